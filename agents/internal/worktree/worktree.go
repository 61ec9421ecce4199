// Package worktree records, compares and restores the files of a git work tree while an agent changes them.
//
// It leaves the user's branch, index and stash alone. The files are read into an index of its own, in a
// temporary git folder that borrows the objects of the repository. The configuration of the repository,
// which an agent can write, is not read there, except for plain values such as core.autocrlf, so that no
// hook, filter, merge driver or other program that it names is started. The user's global configuration
// holds, with its filters.
package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/tempdir"
)

// Errors of Open.
var (
	// ErrNone is returned for a folder that is not in a git work tree.
	ErrNone = errors.New("not in a git work tree")
	// ErrNoGit is returned if the program git cannot be found.
	ErrNoGit = errors.New("the program git is not installed")
)

// ErrTooLarge is returned if more files changed, or larger ones, than Options allow.
var ErrTooLarge = errors.New("too many changed files")

// Options limit a Tree. Zero values are replaced by the defaults.
type Options struct {
	// Record allows Checkpoint, Rollback, Fork and Merge, which write objects and references into the
	// repository. Without it, nothing is written there.
	Record bool
	// Exclude are files and folders that do not belong to the work, such as the transcript of the run. They
	// are neither read nor restored.
	Exclude []string
	// MaxFile is the size in bytes above which a changed file is left out; default 32 MiB.
	MaxFile int64
	// MaxBytes limits the size of all files that changed between two calls of State; default 512 MiB.
	MaxBytes int64
	// MaxFiles limits their number; default 50,000.
	MaxFiles int
	// Timeout limits each run of git; default 2 minutes.
	Timeout time.Duration
}

func (o Options) withDefaults() Options {
	o.MaxFile = cmp.Or(o.MaxFile, 32<<20)
	o.MaxBytes = cmp.Or(o.MaxBytes, 512<<20)
	o.MaxFiles = cmp.Or(o.MaxFiles, 50_000)
	o.Timeout = cmp.Or(o.Timeout, 2*time.Minute)
	return o
}

// Tree is a git work tree. Its methods may be called by several goroutines; they run one after another.
type Tree struct {
	dir     string // the top folder of the work tree
	gitDir  string // of the work tree
	common  string // the git folder that all work trees of the repository share
	private string // the temporary git folder
	folder  *tempdir.Folder
	options Options
	exclude []string // relative to dir, with slashes

	mu   sync.Mutex
	tree string // of the private index; empty if it was not written yet
}

// Open opens the work tree that contains a folder. The caller must close it. The error is ErrNone, ErrNoGit
// or an error of git, such as that of a repository that belongs to another user.
func Open(ctx context.Context, dir string, options Options) (*Tree, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if !Inside(dir) {
		return nil, fmt.Errorf("%s is %w", dir, ErrNone)
	}
	t := &Tree{dir: dir, options: options.withDefaults()}
	if err := t.locate(ctx); err != nil {
		if !Inside(dir) { // a sandbox shows a file .git above the folder for as long as it runs
			return nil, fmt.Errorf("%s is %w", dir, ErrNone)
		}
		return nil, fmt.Errorf("open the git work tree of %s: %w", dir, err)
	}
	if t.folder, err = tempdir.New("rehearse-git"); err != nil {
		return nil, err
	}
	t.private = t.folder.Path
	t.exclude = t.within(t.options.Exclude)
	if err := t.prepare(ctx); err != nil {
		t.Close()
		return nil, fmt.Errorf("open the git work tree %s: %w", t.dir, err)
	}
	return t, nil
}

// Close removes temporary files.
func (t *Tree) Close() { _ = t.folder.Remove() }

// Dir returns the top folder of the work tree.
func (t *Tree) Dir() string { return t.dir }

// below returns the path of a folder in the work tree, relative to its top folder.
func (t *Tree) below(dir string) string {
	if within := t.within([]string{filepath.Join(dir, "x")}); len(within) == 1 {
		return filepath.Dir(filepath.FromSlash(within[0]))
	}
	return "."
}

// Inside reports whether a folder, given as an absolute path, or one above it contains a repository. Like git, it
// passes over other folders with the name .git: a sandbox that was killed leaves an empty one where it denied access.
func Inside(dir string) bool {
	for {
		git := filepath.Join(dir, ".git")
		if info, err := os.Stat(git); err == nil && !info.IsDir() {
			return true
		}
		if _, err := os.Lstat(filepath.Join(git, "HEAD")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

// within returns the paths that are in the work tree, relative to its top folder.
func (t *Tree) within(paths []string) (relative []string) {
	for _, path := range paths {
		full, err := filepath.Abs(path)
		if err != nil {
			continue
		}
		// The top folder that git reports has no symbolic links. The file need not exist yet.
		if folder, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
			full = filepath.Join(folder, filepath.Base(full))
		}
		if name, err := filepath.Rel(t.dir, full); err == nil && filepath.IsLocal(name) {
			relative = append(relative, filepath.ToSlash(name))
		}
	}
	return relative
}

// excluded reports whether a path is one of Options.Exclude or below one.
func (t *Tree) excluded(path string) bool {
	return slices.ContainsFunc(t.exclude, func(name string) bool {
		return path == name || strings.HasPrefix(path, name+"/")
	})
}

// locate finds the folders of the repository.
func (t *Tree) locate(ctx context.Context) error {
	out, err := t.repository(ctx, "rev-parse", "--is-inside-work-tree")
	if err != nil {
		return err
	}
	if strings.TrimSpace(out) != "true" {
		return ErrNone
	}
	for _, place := range []struct {
		path *string
		args []string
	}{
		{&t.gitDir, []string{"rev-parse", "--absolute-git-dir"}},
		{&t.common, []string{"rev-parse", "--path-format=absolute", "--git-common-dir"}},
		{&t.dir, []string{"rev-parse", "--path-format=absolute", "--show-toplevel"}}, // last: the others run in it
	} {
		if out, err = t.repository(ctx, place.args...); err != nil {
			return err
		}
		*place.path = strings.TrimSuffix(out, "\n")
	}
	return nil
}
