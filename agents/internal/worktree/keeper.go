package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
)

// KeeperOptions configure a Keeper.
type KeeperOptions struct {
	// Branch receives the checkpoints; see BranchName. An existing branch is continued.
	Branch string
	// Rollback restores the files after a failure. Otherwise failed work stays in the folder.
	Rollback bool
	// Exclude are files and folders of the run; see Options.
	Exclude []string
	// Now returns the time for commits.
	Now func() time.Time
}

// Keeper keeps the work of a run: it records a checkpoint after each success.
type Keeper struct {
	options KeeperOptions
	tree    *Tree
	line    *Line
	below   string // the folder of the run in the work tree
	count   int    // checkpoints of this process
}

// Kept is the event of a checkpoint or a rollback. Its zero value means that no file had changed.
type Kept struct {
	Branch string `json:"branch"`
	// Commit is the checkpoint that the folder is at.
	Commit string `json:"commit"`
	// Undone is the reference that has the files from before a rollback; empty for a checkpoint.
	Undone string `json:"undone,omitempty"`
	// Files, Added and Deleted count the changed files and their lines since the last checkpoint.
	Files   int `json:"files"`
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
	// Left names files that are not in the checkpoint; see State.
	Left string `json:"left,omitempty"`
	// HeadMoved is true if commits were made since the last checkpoint, which a rollback does not undo.
	HeadMoved bool `json:"head_moved,omitempty"`
}

// Event implements event.Payload.
func (Kept) Event() (event.Kind, string) { return event.State, "checkpoint" }

// IsZero reports whether nothing was recorded.
func (k Kept) IsZero() bool { return k.Commit == "" }

// String describes the event for a person.
func (k Kept) String() string {
	changes := Changes{Count: k.Files, Added: k.Added, Deleted: k.Deleted}
	const shortID = 10
	text := fmt.Sprintf("%.*s on %s", shortID, k.Commit, k.Branch)
	if k.Files > 0 {
		text += ": " + changes.String()
	}
	if k.Undone != "" {
		text = fmt.Sprintf("rolled back %s; they are kept as %s", changes, k.Undone)
		if k.HeadMoved {
			text += "; new commits were left in place"
		}
	}
	if k.Left != "" {
		text += "; not in it, as too large, unreadable or a nested repository: " + k.Left
	}
	return text
}

// Keep opens the work tree of a folder and records its files from before the run.
func Keep(ctx context.Context, dir string, o KeeperOptions) (*Keeper, Kept, error) {
	tree, err := Open(ctx, dir, Options{Record: true, Exclude: o.Exclude})
	if err != nil {
		return nil, Kept{}, err
	}
	k := &Keeper{options: o, tree: tree, below: tree.below(dir)}
	if k.line, err = tree.Line(ctx, o.Branch); err != nil {
		tree.Close()
		return nil, Kept{}, err
	}
	kept, err := k.Succeeded(ctx, "before the run")
	if err != nil {
		tree.Close()
		return nil, Kept{}, err
	}
	return k, kept, nil
}

// Close removes temporary files. The branch remains.
func (k *Keeper) Close() { k.tree.Close() }

// Branch returns the branch with the checkpoints.
func (k *Keeper) Branch() string { return k.options.Branch }

// Count returns the number of checkpoints that this Keeper recorded, with the one before the run.
func (k *Keeper) Count() int { return k.count }

// Succeeded records a checkpoint, unless no file changed. It is completed even if ctx ends.
func (k *Keeper) Succeeded(ctx context.Context, what string) (Kept, error) {
	ctx = context.WithoutCancel(ctx)
	before := k.line.Last()
	cp, recorded, err := k.line.Checkpoint(ctx, "rehearse: "+what, k.options.Now())
	if err != nil || !recorded {
		return Kept{}, err
	}
	k.count++
	kept := Kept{Branch: k.options.Branch, Commit: cp.Commit, Left: strings.Join(cp.Left, ", ")}
	if before.Commit != "" {
		changes, err := k.tree.Changes(ctx, before.State, cp.State)
		if err != nil {
			return Kept{}, err
		}
		kept.Files, kept.Added, kept.Deleted = changes.Count, changes.Added, changes.Deleted
	}
	return kept, nil
}

// Failed restores the files of the last checkpoint if Rollback is set, and does nothing otherwise. It is
// completed even if ctx ends.
func (k *Keeper) Failed(ctx context.Context, what string) (Kept, error) {
	if !k.options.Rollback {
		return Kept{}, nil
	}
	undone, err := k.line.Rollback(context.WithoutCancel(ctx), "rehearse: before the rollback of "+what, k.options.Now())
	if err != nil || undone.Commit == "" {
		return Kept{}, err
	}
	return Kept{
		Branch: k.options.Branch, Commit: k.line.Last().Commit, Undone: undone.Ref, HeadMoved: undone.HeadMoved,
		Files: undone.Changes.Count, Added: undone.Changes.Added, Deleted: undone.Changes.Deleted,
	}, nil
}

// After calls Succeeded, or Failed if failure is not empty, and returns the event to emit; its kind is empty
// if there is none.
func (k *Keeper) After(ctx context.Context, what, failure string) (event.Event, Kept, error) {
	record := k.Succeeded
	if failure != "" {
		record = k.Failed
	}
	kept, err := record(ctx, what)
	if err != nil {
		return event.Event{}, Kept{}, fmt.Errorf("keep the files of %s: %w", what, err)
	}
	if kept.IsZero() {
		return event.Event{}, kept, nil
	}
	return event.New(0, kept.String(), kept), kept, nil
}

// BranchName returns the branch for the checkpoints of a run with a name, such as that of its transcript.
func BranchName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		default:
			return '-'
		}
	}, name)
	for strings.Contains(clean, "..") {
		clean = strings.ReplaceAll(clean, "..", ".")
	}
	clean = strings.TrimSuffix(strings.Trim(clean, ".-"), ".lock")
	const longest = 100
	if clean = strings.Trim(clean[:min(len(clean), longest)], ".-"); clean == "" {
		clean = "run"
	}
	return "rehearse/" + clean
}

// Explain adds a hint to an error of Keep for a person who asked for checkpoints with a flag.
func Explain(err error, flag string) error {
	switch {
	case errors.Is(err, ErrNone):
		return fmt.Errorf("%s needs a git repository: %w; run git init there, or leave out %s", flag, err, flag)
	case errors.Is(err, ErrNoGit):
		return fmt.Errorf("%s: %w; install it, or leave out %s", flag, err, flag)
	default:
		return fmt.Errorf("%s: %w", flag, err)
	}
}
