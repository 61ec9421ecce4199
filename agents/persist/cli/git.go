package cli

import (
	"context"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/event"
)

// files are the files of a plan's folder in a git repository; nil without checkpoints.
type files struct {
	keeper *worktree.Keeper
	before worktree.Kept
	forks  *worktree.Forks // nil unless attempts are made in parallel
}

// keepFiles records the files before the run, on a branch with the name of the plan.
func (j *Job) keepFiles(ctx context.Context, o Options) (*files, error) {
	if !o.Git && o.Parallel <= 1 {
		return nil, nil //nolint:nilnil // no checkpoints
	}
	keeper, before, err := worktree.Keep(ctx, j.Folder, worktree.KeeperOptions{
		Branch: worktree.BranchName("plan-" + j.Plan.Name), Rollback: o.Rollback, Now: j.clock.Now,
		Exclude: []string{j.State, filepath.Join(j.Folder, hiddenFolder)},
	})
	if err != nil {
		flag := "--git"
		if o.Parallel > 1 {
			flag = "--parallel"
		}
		return nil, worktree.Explain(err, flag)
	}
	return &files{keeper: keeper, before: before}, nil
}

func (f *files) close() {
	if f == nil {
		return
	}
	if f.forks != nil {
		f.forks.Close()
	}
	f.keeper.Close()
}

// show prints where the checkpoints are.
func (f *files) show(v *view) {
	if f != nil {
		v.Print("checkpoints on the branch " + f.keeper.Branch() + "; show them with: git log -p " + f.keeper.Branch())
	}
}

// checkpoint returns persist.Deps.Checkpoint.
func (f *files) checkpoint() func(ctx context.Context, task string, attempt int, failure string) (event.Event, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, task string, attempt int, failure string) (event.Event, error) {
		e, _, err := f.keeper.After(ctx, describeAttempt(task, attempt), failure)
		return e, err
	}
}
