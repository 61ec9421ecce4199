package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Forks are named work trees whose work is merged into the work tree of a Keeper. While a fork exists, it has
// its own branch, rehearse/forks/..., which survives a crash. Forks are not safe for concurrent use.
type Forks struct {
	keeper *Keeper
	dir    string
	open   map[string]*fork
}

// fork is an open work tree.
type fork struct {
	tree *Tree
	line *Line
}

// Forks returns the forks of the Keeper's branch, which are in dir. The folder need not exist.
func (k *Keeper) Forks(dir string) (*Forks, error) {
	dir, err := filepath.Abs(dir)
	return &Forks{keeper: k, dir: dir, open: map[string]*fork{}}, err
}

// Close removes temporary files. The forks remain.
func (f *Forks) Close() {
	for _, fork := range f.open {
		fork.tree.Close()
	}
	clear(f.open)
}

// Open opens or creates a fork with the files of the Keeper's last checkpoint. It merges the checkpoint into
// an existing fork; after a conflict, it sets the fork aside and creates a new one. It returns the folder in
// the fork that corresponds to the Keeper's folder.
func (f *Forks) Open(ctx context.Context, name string) (string, error) {
	kept, err := f.find(ctx, name)
	if err == nil && kept != nil {
		err = f.Refresh(ctx, name)
		if _, conflict := errors.AsType[*ConflictError](err); conflict {
			_, err = f.SetAside(ctx, name, "before work on "+name+" begins anew")
		}
	}
	if err == nil && f.open[name] == nil {
		err = f.create(ctx, name)
	}
	if err != nil {
		return "", fmt.Errorf("open the fork %s: %w", name, err)
	}
	return filepath.Join(f.open[name].tree.dir, f.keeper.below), nil
}

// find opens a complete fork. It returns nil if the fork does not exist.
func (f *Forks) find(ctx context.Context, name string) (*fork, error) {
	if open := f.open[name]; open != nil {
		return open, nil
	}
	t := f.keeper.tree
	base, err := t.resolve(ctx, f.ref(name))
	if err != nil || base == "" {
		return nil, err // a fork has its branch after its files
	}
	if _, err := os.Lstat(filepath.Join(f.path(name), ".git")); err != nil {
		return nil, nil //nolint:nilerr,nilnil // the user removed the folder
	}
	tree, err := Open(ctx, f.path(name), t.options)
	if err != nil {
		return nil, err
	}
	return f.add(ctx, name, tree)
}

func (f *Forks) add(ctx context.Context, name string, tree *Tree) (*fork, error) {
	line, err := tree.Line(ctx, f.branch(name))
	if err != nil {
		tree.Close()
		return nil, err
	}
	f.open[name] = &fork{tree, line}
	return f.open[name], nil
}

// create makes a fork with the files of the last checkpoint, in place of an incomplete one.
func (f *Forks) create(ctx context.Context, name string) error {
	if err := f.remove(ctx, name); err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	last := f.keeper.line.Last()
	tree, err := f.keeper.tree.Fork(ctx, f.path(name), last)
	if err != nil {
		return err
	}
	if err := tree.setRef(ctx, f.ref(name), last.Commit, "", "rehearse: begin "+name); err != nil {
		tree.Close()
		return err
	}
	_, err = f.add(ctx, name, tree)
	return err
}

// path returns the folder of a fork, branch its branch, and ref its reference. Names have no "+".
func (f *Forks) path(name string) string { return filepath.Join(f.dir, encode(name)) }

func (f *Forks) ref(name string) string { return "refs/heads/" + f.branch(name) }

func (f *Forks) branch(name string) string {
	return "rehearse/forks/" + strings.TrimPrefix(f.keeper.options.Branch, "rehearse/") + "/" + encode(name)
}

// encode replaces the dots in a name, which have a meaning in folders and references.
func encode(name string) string { return strings.ReplaceAll(name, ".", "+") }

func decode(name string) string { return strings.ReplaceAll(name, "+", ".") }

// Refresh merges the Keeper's last checkpoint into a fork. A *ConflictError means that nothing was changed.
func (f *Forks) Refresh(ctx context.Context, name string) error {
	fork, err := f.find(ctx, name)
	if err != nil {
		return err
	}
	last := f.keeper.line.Last()
	base, _, err := f.base(ctx, fork, name)
	if err != nil || base.Commit == last.Commit {
		return err
	}
	_, err = fork.line.Merge(ctx, base, last, "rehearse: merge other work into "+name, f.keeper.options.Now())
	return err
}

// base records the files of a fork. It returns this checkpoint as now, and the last common one with the
// Keeper's branch as base.
func (f *Forks) base(ctx context.Context, fork *fork, name string) (base, now Checkpoint, err error) {
	if now, _, err = fork.line.Checkpoint(ctx, "rehearse: work on "+name, f.keeper.options.Now()); err != nil {
		return base, now, err
	}
	t := f.keeper.tree
	out, err := t.repository(ctx, "merge-base", now.Commit, f.keeper.line.Last().Commit)
	if err != nil {
		return base, now, fmt.Errorf("find the common base of the fork %s: %w", name, err)
	}
	base, err = t.checkpoint(ctx, strings.TrimSpace(out))
	return base, now, err
}

// Merge merges a fork into the Keeper's work tree and records a checkpoint there. It changes nothing if the
// fork is merged already. A *ConflictError means that nothing was changed.
func (f *Forks) Merge(ctx context.Context, name, what string) (Kept, error) {
	ctx = context.WithoutCancel(ctx)
	fork, err := f.find(ctx, name)
	if err != nil {
		return Kept{}, err
	}
	if fork == nil {
		return Kept{}, fmt.Errorf("merge the fork %s: it was removed", name)
	}
	base, now, err := f.base(ctx, fork, name)
	if err != nil || base.Commit == now.Commit {
		return Kept{}, err
	}
	k := f.keeper
	merged, err := k.line.Merge(ctx, base, now, "rehearse: "+what, k.options.Now())
	if err != nil {
		return Kept{}, err
	}
	k.count++
	changes, err := k.tree.Changes(ctx, base.State, now.State)
	return Kept{
		Branch: k.options.Branch, Commit: merged.Commit, Left: strings.Join(now.Left, ", "),
		Files: changes.Count, Added: changes.Added, Deleted: changes.Deleted,
	}, err
}

// SetAside removes a fork and keeps its files in a commit below refs/rehearse/undone, as a rollback does. The
// commit is empty if the fork has no work.
func (f *Forks) SetAside(ctx context.Context, name, what string) (Undone, error) {
	ctx = context.WithoutCancel(ctx)
	fork, err := f.find(ctx, name)
	if err != nil || fork == nil {
		return Undone{}, err
	}
	base, now, err := f.base(ctx, fork, name)
	if err != nil {
		return Undone{}, err
	}
	var undone Undone
	if undone.Changes, err = f.keeper.tree.Changes(ctx, base.State, now.State); err != nil {
		return undone, err
	}
	if undone.Changes.Count > 0 {
		undone.Commit = now.Commit
		if undone.Ref, err = f.keeper.line.keepUndone(ctx, now.Commit, "rehearse: "+what); err != nil {
			return undone, fmt.Errorf("keep the files of the fork %s: %w", name, err)
		}
	}
	return undone, f.remove(ctx, name)
}

// Undone returns the event for a fork that was set aside.
func (f *Forks) Undone(u Undone) Kept {
	return Kept{
		Branch: f.keeper.options.Branch, Commit: f.keeper.line.Last().Commit, Undone: u.Ref,
		Files: u.Changes.Count, Added: u.Changes.Added, Deleted: u.Changes.Deleted,
	}
}

// Remove removes the forks for which keep returns false, including forks of earlier processes.
func (f *Forks) Remove(ctx context.Context, keep func(name string) bool) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[decode(e.Name())] = true
	}
	prefix := f.ref("")
	refs, err := f.keeper.tree.repository(ctx, "for-each-ref", "--format=%(refname)", prefix)
	if err != nil {
		return err
	}
	for ref := range strings.Lines(refs) { // of a folder that the user removed
		names[decode(strings.TrimPrefix(strings.TrimSpace(ref), prefix))] = true
	}
	for name := range names {
		if !keep(name) {
			err = errors.Join(err, f.remove(ctx, name))
		}
	}
	if len(names) > 0 {
		_ = os.Remove(f.dir) // if it is empty
	}
	return err
}

// remove removes the branch of a fork, so that it is incomplete, and then its files.
func (f *Forks) remove(ctx context.Context, name string) error {
	if open := f.open[name]; open != nil {
		open.tree.Close()
		delete(f.open, name)
	}
	t := f.keeper.tree
	commit, err := t.resolve(ctx, f.ref(name))
	if err == nil && commit != "" {
		err = t.deleteRef(ctx, f.ref(name), commit)
	}
	if err != nil {
		return fmt.Errorf("remove the fork %s: %w", name, err)
	}
	if _, err := os.Lstat(f.path(name)); os.IsNotExist(err) {
		_, err := t.repository(ctx, "worktree", "prune")
		return err
	}
	return t.RemoveFork(ctx, f.path(name))
}
