package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// landing returns the reference that has the commit of a merge while its files are written. With it, recover
// completes a merge after a crash.
func (l *Line) landing() string { return "refs/rehearse/landing/" + l.branch }

// land changes the files of the work tree from the last checkpoint to a state, and records it.
func (l *Line) land(ctx context.Context, from Checkpoint, to State, message string, at time.Time, parents ...string) (Checkpoint, error) {
	t := l.tree
	if err := l.checkFree(ctx); err != nil {
		return Checkpoint{}, err
	}
	commit, err := l.commitState(ctx, to, message, at, parents...)
	if err == nil {
		err = t.setRef(ctx, l.landing(), commit, "", message)
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("record a checkpoint on the branch %s: %w", l.branch, err)
	}
	if err := t.replace(ctx, from.Tree, to.Tree); err != nil {
		_ = t.deleteRef(ctx, l.landing(), commit) // nothing was changed
		return Checkpoint{}, err
	}
	return Checkpoint{to, commit}, l.landed(ctx, Checkpoint{to, commit}, message)
}

// landed records that the files of a commit are written.
func (l *Line) landed(ctx context.Context, to Checkpoint, message string) error {
	err := l.tree.setRef(ctx, l.ref(), to.Commit, l.last.Commit, message)
	if err == nil {
		err = l.tree.deleteRef(ctx, l.landing(), to.Commit)
	}
	if err != nil {
		return fmt.Errorf("record a checkpoint on the branch %s: %w", l.branch, err)
	}
	l.last = to
	return nil
}

// recover completes a merge during which the process was killed: it writes the files of the merge and leaves
// other files alone. It first keeps the current files as before a rollback, because a file may be incomplete.
func (l *Line) recover(ctx context.Context) error {
	t := l.tree
	commit, err := t.resolve(ctx, l.landing())
	if err != nil || commit == "" {
		return err
	}
	if commit == l.last.Commit { // only the reference is left
		return t.deleteRef(ctx, l.landing(), commit)
	}
	to, err := t.checkpoint(ctx, commit)
	if err != nil {
		return err
	}
	now, err := t.state(ctx)
	if err != nil {
		return err
	}
	target, err := t.overlay(ctx, now.Tree, l.last.Tree, to.Tree)
	if err != nil {
		return fmt.Errorf("complete the merge %s: %w", commit, err)
	}
	if target != now.Tree {
		if err = l.keepInterrupted(ctx, now); err == nil {
			err = t.replace(ctx, now.Tree, target)
		}
		if err != nil {
			return fmt.Errorf("complete the merge %s: %w", commit, err)
		}
	}
	return l.landed(ctx, to, "rehearse: complete an interrupted merge")
}

// keepInterrupted keeps the files from before a merge is completed, with the time of the merge.
func (l *Line) keepInterrupted(ctx context.Context, now State) error {
	out, err := l.tree.repository(ctx, "for-each-ref", "--format=%(committerdate:unix)", l.landing())
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err != nil {
		return err
	}
	const message = "rehearse: before an interrupted merge was completed"
	commit, err := l.tree.commitTree(ctx, now.Tree, message, time.Unix(seconds, 0), l.last.Commit)
	if err == nil {
		_, err = l.keepUndone(ctx, commit, message)
	}
	return err
}

// overlay returns the tree now with the changes between the trees from and to.
func (t *Tree) overlay(ctx context.Context, now, from, to string) (string, error) {
	out, err := t.own(ctx, "", "diff-tree", "-r", "-z", "--raw", "--no-renames", from, to)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i+1 < len(records); i += 2 {
		fields := strings.Fields(records[i]) // ":oldmode newmode oldid newid status"
		const parts = 5
		if len(fields) != parts {
			return "", fmt.Errorf("git diff-tree printed %q", records[i])
		}
		fmt.Fprintf(&lines, "%s %s\t%s\x00", fields[1], fields[3], records[i+1])
	}
	index := filepath.Join(t.private, "overlay") // of its own, as the other one has the times of files
	defer func() { _ = os.Remove(index) }()
	for _, step := range []struct {
		stdin string
		args  []string
	}{
		{"", []string{"read-tree", now}},
		{lines.String(), []string{"update-index", "-z", "--index-info"}},
		{"", []string{"write-tree"}},
	} {
		if out, err = t.git(ctx, step.stdin, append(t.ownVariables(), "GIT_INDEX_FILE="+index), step.args); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(out), nil
}
