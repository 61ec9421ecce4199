package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Files are the files that an agent works on, in a git repository.
type Files struct {
	keeper *worktree.Keeper
	before worktree.Kept
}

// KeepFiles records the files of a folder before a run, on a branch with the name of the run's transcript.
// With rollback, the files are restored after a failed iteration. The files in exclude and the transcript
// are left alone. Output.Files takes the result.
func KeepFiles(ctx context.Context, dir, transcript string, rollback bool, exclude ...string) (*Files, error) {
	keeper, before, err := worktree.Keep(ctx, dir, worktree.KeeperOptions{
		Branch:   worktree.BranchName(strings.TrimSuffix(filepath.Base(transcript), ".jsonl")),
		Rollback: rollback, Exclude: append(exclude, transcript), Now: clock.Real().Now,
	})
	if err != nil {
		return nil, worktree.Explain(err, "--git")
	}
	return &Files{keeper, before}, nil
}

// Close removes temporary files. The checkpoints remain.
func (f *Files) Close() { f.keeper.Close() }

// checkpoint returns loop.Deps.Checkpoint; nil without files.
func (f *Files) checkpoint(ctx context.Context) func(n int, failure string) (event.Event, bool, error) {
	if f == nil {
		return nil
	}
	return func(n int, failure string) (event.Event, bool, error) {
		e, kept, err := f.keeper.After(ctx, fmt.Sprintf("iteration %d", n), failure)
		return e, kept.Undone != "", err
	}
}

// emitBefore emits the checkpoint from before the run.
func (f *Files) emitBefore(sink event.Sink) {
	if f != nil && !f.before.IsZero() {
		sink.Emit(event.New(0, f.before.String(), f.before))
	}
}

// show writes where the checkpoints of the run are.
func (f *Files) show(w io.Writer) {
	if f == nil {
		return
	}
	branch := f.keeper.Branch()
	fmt.Fprintf(w, "%s on the branch %s; show them with: git log -p %s\n", format.Plural(f.keeper.Count(), "checkpoint"), branch, branch)
}
