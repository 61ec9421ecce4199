package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Fork creates a work tree in a new folder, with the files of a checkpoint and a detached head at its
// commit. The caller must close it, and remove it with RemoveFork. Submodules are not checked out.
func (t *Tree) Fork(ctx context.Context, dir string, from Checkpoint) (*Tree, error) {
	if !t.options.Record {
		return nil, ErrNotRecording
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.repository(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", "--", dir, from.Commit); err != nil {
		return nil, fmt.Errorf("create a work tree in %s: %w", dir, err)
	}
	fork, err := t.fill(ctx, dir, from)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create a work tree in %s: %w", dir, err), t.removeFork(ctx, dir))
	}
	return fork, nil
}

// fill writes the files of a new work tree, without programs of the repository's configuration.
func (t *Tree) fill(ctx context.Context, dir string, from Checkpoint) (*Tree, error) {
	fork, err := Open(ctx, dir, t.options)
	if err != nil {
		return nil, err
	}
	_, err = fork.repository(ctx, "read-tree", from.Commit) // the index that the agent's git uses
	if err == nil {
		_, err = fork.own(ctx, "", "read-tree", "--empty")
	}
	if err == nil {
		_, err = fork.own(ctx, "", "read-tree", "-m", "-u", from.Tree)
	}
	if err != nil {
		fork.Close()
		return nil, err
	}
	return fork, nil
}

// RemoveFork removes the work tree in a folder that Fork created, with all of its files; it may be one that
// a killed process left. Commits remain.
func (t *Tree) RemoveFork(ctx context.Context, dir string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.removeFork(ctx, dir)
}

func (t *Tree) removeFork(ctx context.Context, dir string) error {
	_, err := t.repository(ctx, "worktree", "remove", "--force", "--force", "--", dir)
	if err == nil {
		return nil
	}
	if removed := os.RemoveAll(dir); removed != nil {
		return fmt.Errorf("remove the work tree %s: %w", dir, errors.Join(err, removed))
	}
	if _, err = t.repository(ctx, "worktree", "prune"); err != nil {
		return fmt.Errorf("remove the work tree %s: %w", dir, err)
	}
	return nil
}

// ConflictError is returned by Merge if both sides changed the same part of a file.
type ConflictError struct{ Paths []string }

func (e *ConflictError) Error() string {
	const shown = 5
	names := strings.Join(e.Paths[:min(len(e.Paths), shown)], ", ")
	if more := len(e.Paths) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "both sides changed " + names
}

// Merge applies the changes of another line since base, such as those of a fork, to the work tree, and
// records the result as a checkpoint. A *ConflictError means that nothing was changed. It needs git 2.38.
func (l *Line) Merge(ctx context.Context, base, theirs Checkpoint, message string, at time.Time) (Checkpoint, error) {
	ours, _, err := l.Checkpoint(ctx, "before merging: "+message, at)
	if err != nil {
		return Checkpoint{}, err
	}
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	merged, err := l.tree.mergeTrees(ctx, base.Tree, ours.Tree, theirs.Tree, at)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("merge %s: %w", firstLine(message), err)
	}
	s := ours.State
	s.Tree = merged
	return l.land(ctx, ours, s, message, at, theirs.Commit)
}

// mergeTrees returns the tree of a three-way merge. Its commits have no history, so that git finds the base
// in shallow clones, too, and whatever else was merged.
func (t *Tree) mergeTrees(ctx context.Context, base, ours, theirs string, at time.Time) (string, error) {
	root, err := t.commitTree(ctx, base, "base", at)
	if err != nil {
		return "", err
	}
	var sides [2]string
	for i, tree := range []string{ours, theirs} {
		if sides[i], err = t.commitTree(ctx, tree, "side", at, root); err != nil {
			return "", err
		}
	}
	out, err := t.own(ctx, "", "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", sides[0], sides[1])
	var failed *gitError
	if errors.As(err, &failed) && failed.code == 1 {
		fields := strings.Split(strings.Trim(out, "\x00"), "\x00")
		return "", &ConflictError{fields[1:]}
	}
	return strings.Trim(out, "\x00\n"), err
}
