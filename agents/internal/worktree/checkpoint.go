package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// Checkpoint is a recorded state: a commit on a branch.
type Checkpoint struct {
	State
	Commit string `json:"commit"`
}

// Line is a series of checkpoints on a branch of its own. Nobody has this branch checked out.
type Line struct {
	tree   *Tree
	branch string
	last   Checkpoint
	undone int // rollbacks
}

// ErrNotRecording is returned by a Tree that was opened without Options.Record.
var ErrNotRecording = errors.New("the work tree was opened for reading only")

// Line returns the series of checkpoints on a branch such as "rehearse/loop-1", which need not exist yet.
func (t *Tree) Line(ctx context.Context, branch string) (*Line, error) {
	if !t.options.Record {
		return nil, ErrNotRecording
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &Line{tree: t, branch: branch}
	if _, err := t.repository(ctx, "check-ref-format", l.ref()); err != nil || strings.HasPrefix(branch, "-") {
		return nil, fmt.Errorf("%q is not a valid name of a branch", branch)
	}
	commit, err := t.resolve(ctx, l.ref())
	if err != nil || commit == "" {
		return l, err
	}
	if l.last, err = t.checkpoint(ctx, commit); err != nil {
		return l, err
	}
	return l, l.recover(ctx)
}

func (t *Tree) checkpoint(ctx context.Context, commit string) (Checkpoint, error) {
	out, err := t.own(ctx, "", "rev-parse", "--verify", "--end-of-options", commit+"^{tree}")
	if err != nil {
		return Checkpoint{}, fmt.Errorf("read the checkpoint %s: %w", commit, err)
	}
	head, err := t.head(ctx)
	return Checkpoint{State: State{Head: head, Tree: strings.TrimSpace(out)}, Commit: commit}, err
}

func (l *Line) ref() string { return "refs/heads/" + l.branch }

// Branch returns the name of the branch.
func (l *Line) Branch() string { return l.branch }

// Last returns the last checkpoint; its Commit is empty if there is none.
func (l *Line) Last() Checkpoint { return l.last }

// Checkpoint commits all files that git does not ignore, and reports whether they differ from those of the
// last checkpoint; if not, that one is returned. The first checkpoint of a branch is always committed:
// it has the work of the user before the run.
func (l *Line) Checkpoint(ctx context.Context, message string, at time.Time) (Checkpoint, bool, error) {
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	s, err := l.tree.state(ctx)
	if err != nil {
		return Checkpoint{}, false, err
	}
	if l.last.Commit != "" && l.last.Tree == s.Tree && l.last.Head == s.Head {
		return l.last, false, nil
	}
	cp, err := l.commit(ctx, s, message, at)
	return cp, err == nil, err
}

// commit records a state at the end of the branch, with more parents than the last checkpoint.
func (l *Line) commit(ctx context.Context, s State, message string, at time.Time, parents ...string) (Checkpoint, error) {
	t := l.tree
	if err := l.checkFree(ctx); err != nil {
		return Checkpoint{}, err
	}
	commit, err := l.commitState(ctx, s, message, at, parents...)
	if err == nil {
		err = t.setRef(ctx, l.ref(), commit, l.last.Commit, message)
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("record a checkpoint on the branch %s: %w", l.branch, err)
	}
	l.last = Checkpoint{s, commit}
	return l.last, nil
}

// commitState writes the commit of a state that follows the last checkpoint.
func (l *Line) commitState(ctx context.Context, s State, message string, at time.Time, parents ...string) (string, error) {
	if l.last.Commit != "" {
		parents = append([]string{l.last.Commit}, parents...)
	}
	if s.Head != "" && s.Head != l.last.Head { // the user's commit, or one that the agent made since
		parents = append(parents, s.Head)
	}
	return l.tree.commitTree(ctx, s.Tree, message, at, parents...)
}

// checkFree returns an error if a work tree has the branch checked out.
func (l *Line) checkFree(ctx context.Context) error {
	out, err := l.tree.repository(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		if strings.TrimSpace(line) == "branch "+l.ref() {
			return fmt.Errorf("the branch %s is checked out, so no checkpoint can be recorded on it; check out another one", l.branch)
		}
	}
	return nil
}

// setRef moves a reference; old is empty if it must not exist.
func (t *Tree) setRef(ctx context.Context, ref, commit, old, message string) error {
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	_, err := t.repository(ctx, "update-ref", "-m", firstLine(message), ref, commit, old)
	return err
}

// deleteRef deletes a reference that has a commit.
func (t *Tree) deleteRef(ctx context.Context, ref, commit string) error {
	_, err := t.repository(ctx, "update-ref", "-d", ref, commit)
	return err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// commitTree writes a commit of rehearse.
func (t *Tree) commitTree(ctx context.Context, tree, message string, at time.Time, parents ...string) (string, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-F", "-"}
	for _, parent := range parents {
		args = append(args, "-p", parent)
	}
	date := fmt.Sprintf("%d +0000", at.Unix())
	variables := append(t.ownVariables(),
		"GIT_AUTHOR_NAME=rehearse", "GIT_AUTHOR_EMAIL=rehearse@localhost", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=rehearse", "GIT_COMMITTER_EMAIL=rehearse@localhost", "GIT_COMMITTER_DATE="+date)
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "\uFFFD"), "\x00", "\uFFFD")
	out, err := t.git(ctx, message+"\n", variables, append(args, tree))
	return strings.TrimSpace(out), err
}

// Undone describes a rollback.
type Undone struct {
	// Changes are the changes that were undone.
	Changes Changes `json:"changes"`
	// Ref is the reference that keeps the files from before the rollback; empty if nothing had changed.
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
	// HeadMoved is true if the agent or the user has committed since the checkpoint. These commits and the
	// branch are left as they are.
	HeadMoved bool `json:"head_moved,omitempty"`
}

// Rollback restores the files of the last checkpoint: files that changed since then are written, and those
// that were added are removed. The state before is committed to a reference below refs/rehearse first, so
// that nothing is lost. Ignored files, files that were left out, nested repositories, the user's branch and
// index are left alone.
func (l *Line) Rollback(ctx context.Context, message string, at time.Time) (Undone, error) {
	if l.last.Commit == "" {
		return Undone{}, errors.New("there is no checkpoint to return to")
	}
	changes, state, err := l.sinceLast(ctx)
	if err != nil || changes.Count == 0 {
		return Undone{HeadMoved: state.Head != l.last.Head}, err
	}
	l.tree.mu.Lock()
	defer l.tree.mu.Unlock()
	undone := Undone{Changes: changes, HeadMoved: state.Head != l.last.Head}
	if undone.Commit, err = l.tree.commitTree(ctx, state.Tree, message, at, l.last.Commit); err != nil {
		return Undone{}, fmt.Errorf("keep the files before a rollback: %w", err)
	}
	if undone.Ref, err = l.keepUndone(ctx, undone.Commit, message); err != nil {
		return Undone{}, fmt.Errorf("keep the files before a rollback: %w", err)
	}
	return undone, l.tree.replace(ctx, state.Tree, l.last.Tree)
}

func (l *Line) sinceLast(ctx context.Context) (Changes, State, error) {
	state, err := l.tree.State(ctx)
	if err != nil {
		return Changes{}, State{}, err
	}
	changes, err := l.tree.Changes(ctx, l.last.State, state)
	return changes, state, err
}

// maxUndone limits the references of one line, and with them the search for a free one.
const maxUndone = 1000

// keepUndone stores a commit in the next free reference refs/rehearse/undone/BRANCH/N.
func (l *Line) keepUndone(ctx context.Context, commit, message string) (string, error) {
	var err error
	for l.undone < maxUndone {
		l.undone++
		ref := fmt.Sprintf("refs/rehearse/undone/%s/%d", l.branch, l.undone)
		if err = l.tree.setRef(ctx, ref, commit, "", message); err == nil {
			return ref, nil
		}
		if taken, failed := l.tree.resolve(ctx, ref); failed != nil || taken == "" {
			return "", err
		}
	}
	return "", fmt.Errorf("there are already %d rollbacks of the branch %s", maxUndone, l.branch)
}

// replace changes the files of the work tree from one tree, which they have now, to another. It
// changes nothing if a file that is not in the first tree would be overwritten.
func (t *Tree) replace(ctx context.Context, from, to string) error {
	t.tree = ""
	if _, err := t.own(ctx, "", "read-tree", "-m", "-u", from, to); err != nil {
		if _, again := t.own(ctx, "", "read-tree", "--reset", from); again != nil {
			_ = os.Remove(t.index())
		}
		return fmt.Errorf("restore files in %s: %w", t.dir, err)
	}
	return nil
}
