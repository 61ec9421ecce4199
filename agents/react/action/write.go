package action

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// write writes a file atomically, and describes it.
func (w *work) write(name string, data []byte) (string, error) {
	name, err := w.writable(name)
	if err != nil {
		return "", err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	before, err := w.replaced(name)
	if err == nil {
		err = w.straight(path.Dir(name))
	}
	if err == nil {
		err = w.swap(name, data)
	}
	if err != nil {
		return "", explain(name, err)
	}
	w.written = append(w.written, name)
	return fmt.Sprintf("wrote %s: %s, %s, sha256 %s%s", clip(name), format.Plural(len(data), "byte"),
		format.Plural(len(split(data)), "line"), digest(data), before), nil
}

// writable checks and cleans the path of a file that is to be written.
func (w *work) writable(name string) (string, error) {
	name, err := inside(name)
	if err != nil {
		return "", err
	}
	isIt := func(other string) bool { return strings.EqualFold(other, name) } // some file systems ignore case
	if runsElsewhere(name) || slices.ContainsFunc(w.protected, isIt) {
		return "", fail(ruleProtected, "%s may be read and not written", clip(name))
	}
	return name, nil
}

// executed are files and folders whose content other programs run automatically: version
// control, CI servers, editors, shells, package managers and coding agents.
var executed = []string{
	".git", ".hg", ".svn", ".github", ".gitlab", ".gitlab-ci.yml", ".circleci", ".travis.yml", ".husky", ".pre-commit-config.yaml",
	".vscode", ".idea", ".devcontainer", ".envrc", ".bashrc", ".bash_profile", ".profile", ".zshrc", ".npmrc", ".yarnrc.yml",
	".claude", ".codex", ".cursor", ".gemini", ".copilot", ".opencode", ".mcp.json",
}

// runsElsewhere reports whether another program would run a file at a path. Some file
// systems ignore case.
func runsElsewhere(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, agentfile.Suffix) ||
		slices.ContainsFunc(strings.Split(name, "/"), func(element string) bool { return slices.Contains(executed, element) })
}

// straight refuses a folder that is a link or below one, which could lead to a protected file.
func (w *work) straight(dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		info, err := w.root.Lstat(filepath.FromSlash(dir))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fail(ruleProtected, "%s is a link; write to the folder that it leads to", clip(dir))
		}
	}
	return nil
}

// replaced describes the file at a path, which must be regular.
func (w *work) replaced(name string) (string, error) {
	info, err := w.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A link to nowhere is not followed, but it may lead out.
		if link, err := w.root.Lstat(filepath.FromSlash(name)); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return "", fail(ruleNotAFile, "%s is a link to nothing", clip(name))
		}
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fail(ruleNotAFile, "%s is %s, not a file", clip(name), kind(info.Mode()))
	}
	return fmt.Sprintf("; it replaced a file of %s", format.Plural(int(info.Size()), "byte")), nil
}

// partialName returns the temporary name of a file.
func partialName(base string) string { return "." + base + atomicdir.Partial }

// isPartial reports whether a file is incomplete, because it is being written or the run was killed.
func isPartial(base string) bool {
	return strings.HasPrefix(base, ".") && strings.HasSuffix(base, atomicdir.Partial)
}

// swap writes data under a temporary name and then renames the file.
func (w *work) swap(name string, data []byte) error {
	dir := path.Dir(name)
	if err := w.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
		return err
	}
	partial := filepath.FromSlash(path.Join(dir, partialName(path.Base(name))))
	if err := w.root.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := w.root.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if info, missing := w.root.Stat(filepath.FromSlash(name)); err == nil && missing == nil {
		err = f.Chmod(info.Mode().Perm()) // a script stays executable
	}
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = w.root.Rename(partial, filepath.FromSlash(name))
	}
	if err != nil {
		_ = w.root.Remove(partial) // best effort; the next write does it again
	}
	return err
}
