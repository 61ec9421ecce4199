package cli

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// maxTodoFile limits a todo file, in bytes.
const maxTodoFile = 4 << 20

// Watch reads what an agent changes: the files of a git work tree, and a todo file.
type Watch struct {
	tree *worktree.Tree // nil outside of a work tree
	last worktree.State
	todo string // the path; may be empty
}

// WatchFiles watches the work tree of a folder, without the files in exclude, and a todo file unless that is
// empty. It returns nil if there is nothing to watch. The todo file need not exist.
func WatchFiles(ctx context.Context, dir, todo string, exclude ...string) (*Watch, error) {
	tree, err := worktree.Open(ctx, dir, worktree.Options{Exclude: exclude})
	if errors.Is(err, worktree.ErrNone) || errors.Is(err, worktree.ErrNoGit) {
		tree, err = nil, nil
	}
	w := &Watch{tree: tree, todo: todo}
	if err == nil {
		_, err = w.todoDigest()
	}
	switch {
	case err != nil:
		w.Close()
		return nil, err
	case tree == nil && todo == "":
		return nil, nil
	case todo != "":
		w.todo, err = filepath.Abs(todo)
	}
	return w, err
}

// Close removes temporary files. W may be nil.
func (w *Watch) Close() {
	if w != nil && w.tree != nil {
		w.tree.Close()
	}
}

// Look returns the current state and the changes since the last call; see loop.Deps.
func (w *Watch) Look(ctx context.Context) (loop.Work, error) {
	todo, err := w.todoDigest()
	if err != nil || w.tree == nil {
		return loop.Work{State: todo, Partial: true}, err
	}
	state, err := w.tree.State(ctx)
	if err != nil {
		return loop.Work{}, err
	}
	work := loop.Work{State: state.Hash()}
	if todo != "" {
		work.State += "-" + todo
	}
	if w.last.Tree != "" {
		changes, err := w.tree.Changes(ctx, w.last, state)
		if err != nil {
			return loop.Work{}, err
		}
		work.Changes = &changes
	}
	w.last = state
	return work, nil
}

// todoDigest identifies the content of the todo file; it is empty if no file is named.
func (w *Watch) todoDigest() (string, error) {
	if w.todo == "" {
		return "", nil
	}
	if _, err := os.Lstat(w.todo); errors.Is(err, fs.ErrNotExist) {
		return "none", nil
	}
	data, err := input.ReadFile("todo file", w.todo, maxTodoFile)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%x", sum[:8]), nil
}
