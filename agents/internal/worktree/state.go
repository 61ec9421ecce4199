package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// State is the content of a work tree at one time: its last commit, and all files that git does not
// ignore. Nested repositories count by the commit that a submodule has checked out, not by their files.
type State struct {
	// Head is the last commit; empty in a repository without commits.
	Head string `json:"head,omitempty"`
	// Tree is the id of a git tree with the files.
	Tree string `json:"tree"`
	// Left are the files that are not in Tree, as they are too large or cannot be read, and nested
	// repositories that are not submodules; at most MaxLeft paths, sorted.
	Left []string `json:"left,omitempty"`
	// LeftDigest identifies the sizes and times of all files that were left out; empty if there are none.
	LeftDigest string `json:"left_digest,omitempty"`
}

// MaxLeft limits State.Left.
const MaxLeft = 20

// Hash returns 32 hexadecimal digits that are equal for equal states.
func (s State) Hash() string {
	sum := sha256.Sum256([]byte(s.Head + "\n" + s.Tree + "\n" + s.LeftDigest))
	return hex.EncodeToString(sum[:16])
}

// State reads the work tree. A tree that did not change since the last call is compared by sizes and times
// of its files, as git does; only changed files are read.
func (t *Tree) State(ctx context.Context) (State, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state(ctx)
}

func (t *Tree) state(ctx context.Context) (State, error) {
	s, err := t.read(ctx)
	if err != nil { // a file may have been changed while it was read
		s, err = t.read(ctx)
	}
	if err != nil {
		return State{}, fmt.Errorf("read the git work tree %s: %w", t.dir, err)
	}
	return s, nil
}

func (t *Tree) read(ctx context.Context) (State, error) {
	head, err := t.head(ctx)
	if err != nil {
		return State{}, err
	}
	listed, err := t.own(ctx, "", "ls-files", "-z", "-t", "--modified", "--deleted", "--others", "--exclude-standard")
	if err != nil {
		return State{}, err
	}
	found, err := t.sort(strings.Split(strings.TrimSuffix(listed, "\x00"), "\x00"))
	if err != nil {
		return State{}, err
	}
	s := State{Head: head, Left: found.left[:min(len(found.left), MaxLeft)], LeftDigest: found.digest()}
	if s.Tree, err = t.writeTree(ctx, found); err != nil {
		return State{}, err
	}
	return s, nil
}

// writeTree reads changed files into the index and returns its tree.
func (t *Tree) writeTree(ctx context.Context, found *listing) (string, error) {
	for _, update := range []struct {
		paths []string
		args  []string
	}{
		{found.deleted, []string{"update-index", "--force-remove", "-z", "--stdin"}},
		{found.changed, []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}},
	} {
		if len(update.paths) == 0 {
			continue
		}
		t.tree = ""
		if _, err := t.own(ctx, strings.Join(update.paths, "\x00")+"\x00", update.args...); err != nil {
			return "", err
		}
	}
	if t.tree == "" {
		out, err := t.own(ctx, "", "write-tree")
		if err != nil {
			return "", err
		}
		t.tree = strings.TrimSpace(out)
	}
	return t.tree, nil
}

// listing has the paths that differ from the index.
type listing struct {
	changed []string // to be read
	deleted []string
	left    []string
	details strings.Builder // sizes and times of left
}

func (l *listing) leave(path string, info fs.FileInfo) {
	l.left = append(l.left, path)
	fmt.Fprintf(&l.details, "%s\x00", path)
	if info != nil {
		fmt.Fprintf(&l.details, "%d %d\x00", info.Size(), info.ModTime().UnixNano())
	}
}

func (l *listing) digest() string {
	if len(l.left) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(l.details.String()))
	return hex.EncodeToString(sum[:16])
}

// sort divides paths with their tags, such as "C main.go", into those to read, to delete and to leave out.
// A file can have two tags.
func (t *Tree) sort(tagged []string) (*listing, error) {
	slices.Sort(tagged) // C (changed), R (removed), ? (untracked)
	found := &listing{}
	seen := map[string]bool{}
	var size int64
	for _, entry := range tagged {
		_, path, _ := strings.Cut(entry, " ")
		if path == "" || seen[path] || t.excluded(path) {
			continue
		}
		seen[path] = true
		full := filepath.Join(t.dir, filepath.FromSlash(path))
		info, err := os.Lstat(full)
		regular := err == nil && info.Mode().IsRegular()
		switch {
		case strings.HasSuffix(path, "/"): // a repository in the repository
			found.leave(path, nil)
		case err != nil || t.beyondLink(path) || info.IsDir() && !isRepository(full): // a folder replaced the file
			found.deleted = append(found.deleted, path)
		case regular && (info.Size() > t.options.MaxFile || !readable(full)):
			found.leave(path, info)
		default:
			found.changed = append(found.changed, path)
			if regular {
				size += info.Size()
			}
		}
	}
	if n := len(found.changed); n > t.options.MaxFiles || size > t.options.MaxBytes {
		return nil, fmt.Errorf("%w: %d files with %d MB, at most %d files with %d MB; add what is generated to .gitignore",
			ErrTooLarge, n, size>>20, t.options.MaxFiles, t.options.MaxBytes>>20)
	}
	return found, nil
}

// beyondLink reports whether a folder of a path has become a symbolic link, so that the file is not in the
// work tree any more.
func (t *Tree) beyondLink(path string) bool {
	for i, r := range path {
		if r != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(t.dir, filepath.FromSlash(path[:i])))
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// isRepository reports whether a folder is the work tree of a repository, such as a submodule.
func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return os.IsNotExist(err)
	}
	_ = f.Close()
	return true
}
