package action

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/glob"
)

// The limits of what is read.
const (
	maxFile  = 4 << 20
	maxFiles = 10_000
	maxBytes = 64 << 20
	maxPath  = 4096
)

// passedOver are folders that are not an agent's business and often large.
var passedOver = []string{".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}

// clean is a path as it is shown: with slashes, without "." and "..".
func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

// inside checks a path that an agent wrote and cleans it. Links are checked when
// it is opened.
func inside(name string) (string, error) {
	switch slashed := filepath.ToSlash(name); {
	case strings.TrimSpace(name) == "":
		return "", fail(RuleBadInput, "the path is empty")
	case len(name) > maxPath || strings.ContainsAny(name, "\x00\n\r"):
		return "", fail(RuleBadInput, "%q is no path", clip(name))
	case path.IsAbs(slashed) || filepath.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(name)):
		return "", fail(RuleOutside, "%q is outside the workspace; name a path in it, such as src/main.py", clip(name))
	default:
		return path.Clean(slashed), nil
	}
}

// leadsOut reports whether os.Root refused a path; it has no error value for that.
func leadsOut(err error) bool {
	return err != nil && strings.Contains(err.Error(), "escapes from parent")
}

// explain names what the file system refused.
func explain(name string, err error) error {
	if _, known := errors.AsType[*failure](err); known {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(RuleNoSuchFile, "there is no %s in the workspace", clip(name))
	case leadsOut(err):
		return fail(RuleOutside, "%q leads out of the workspace by a link", clip(name))
	case errors.Is(err, syscall.ENOSPC):
		return fail(RuleFileSystem, "%s: the disk is full", clip(name))
	case errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENOTDIR):
		return fail(RuleNotAFile, "%s: %v", clip(name), pathless(err))
	}
	return fail(RuleFileSystem, "%s: %v", clip(name), pathless(err))
}

// content reads a text file.
func (w *work) content(name string) ([]byte, error) {
	name, err := inside(name)
	if err != nil {
		return nil, err
	}
	data, err := w.open(name)
	if err != nil {
		return nil, explain(name, err)
	}
	w.read = append(w.read, name)
	return data, nil
}

// open reads a file of a cleaned path. Without waiting: opening a pipe would.
func (w *work) open(name string) ([]byte, error) {
	f, err := w.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fail(RuleNotAFile, "%s is %s, not a file", clip(name), kind(info.Mode()))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fail(RuleTooLarge, "%s is larger than %d bytes", clip(name), maxFile)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return nil, fail(RuleBinary, "%s is not a text file (%s)", clip(name), count(len(data), "byte"))
	}
	return data, nil
}

func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// text is a file that an agent looks at.
type text struct {
	name string
	data []byte
}

// lines are the lines of a text without their endings; no text, no lines.
func (t text) lines() []string { return split(t.data) }

func split(data []byte) []string {
	s := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if s == "" && len(data) == 0 {
		return nil
	}
	return strings.Split(s, "\n")
}

// look is what there is to see in a scope.
type look struct {
	texts   []text
	passed  []string // what was passed over, and why
	folder  bool     // a file is no folder
	isWhole bool
}

// scope finds the text files that a scope names: a file, a folder, a pattern, or
// everything.
func (w *work) scope(name string) (look, error) {
	if isWhole(name) {
		l, err := w.walk(".", nil)
		l.isWhole = true
		return l, err
	}
	name, err := inside(name)
	if err != nil {
		return look{}, err
	}
	info, err := w.root.Stat(filepath.FromSlash(name))
	if err != nil && errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(name, "*?[") {
		pattern, err := glob.Compile(name)
		if err != nil {
			return look{}, fail(RuleBadInput, "%v", err)
		}
		return w.walk(".", &pattern)
	}
	switch {
	case err != nil:
		return look{}, explain(name, err)
	case info.IsDir():
		return w.walk(name, nil)
	}
	data, err := w.content(name)
	return look{texts: []text{{name, data}}}, err
}

// isWhole reports whether a scope means everything.
func isWhole(scope string) bool {
	return slices.Contains([]string{"", ".", "all", "full", "full_codebase", "code", "codebase", "workspace"}, strings.ToLower(strings.TrimSpace(scope)))
}

// walk reads the text files below a folder, in order.
func (w *work) walk(folder string, pattern *glob.Pattern) (look, error) {
	l := look{folder: true}
	seen, size := 0, 0
	dirs := []string{folder}
	for len(dirs) > 0 {
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		entries, err := w.entries(dir)
		if err != nil {
			return look{}, err
		}
		var below []string
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if seen++; seen > maxFiles {
				return look{}, fail(RuleTooMany, "there are more than %d files and folders; name a smaller scope", maxFiles)
			}
			if e.IsDir() && slices.Contains(passedOver, e.Name()) {
				l.passed = append(l.passed, name+": not looked at")
				continue
			}
			if e.IsDir() {
				below = append(below, name)
				continue
			}
			if pattern != nil && !pattern.Match(name) {
				continue
			}
			if err := clock.Err(w.ctx); err != nil {
				return look{}, err
			}
			data, why := w.visit(name, e)
			if why != "" {
				l.passed = append(l.passed, name+": "+why)
				continue
			}
			if size += len(data); size > maxBytes {
				return look{}, fail(RuleTooMany, "the files have more than %d bytes; name a smaller scope", maxBytes)
			}
			l.texts = append(l.texts, text{name, data})
			w.read = append(w.read, name)
		}
		slices.Reverse(below)
		dirs = append(dirs, below...)
	}
	slices.SortFunc(l.texts, func(a, b text) int { return strings.Compare(a.name, b.name) })
	slices.Sort(l.passed)
	return l, nil
}

// entries lists a folder; the limit is the one of files.
func (w *work) entries(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil, explain(dir, err)
	}
	defer f.Close()
	entries, err := f.ReadDir(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, explain(dir, err)
	}
	if len(entries) > maxFiles {
		return nil, fail(RuleTooMany, "%s has more than %d entries; name a smaller scope", clip(dir), maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// visit reads a file of a folder, or says why it is passed over.
func (w *work) visit(name string, e fs.DirEntry) (data []byte, why string) {
	if e.Type()&fs.ModeSymlink != 0 {
		return nil, "a link, not followed"
	}
	data, err := w.open(name)
	if err != nil {
		f, ok := errors.AsType[*failure](explain(name, err))
		if ok && f.rule == RuleBinary {
			return nil, "not text"
		}
		return nil, strings.TrimPrefix(explain(name, err).Error(), clip(name)+" is ")
	}
	return data, ""
}

// given is a text that an input gives: itself or by a path. It is a text if it has
// several lines, begins with "{" or "[", or with "text:"; otherwise a path.
func (w *work) given(value string) (text, error) {
	if inline, ok := strings.CutPrefix(value, "text:"); ok {
		return text{"the text", []byte(strings.TrimPrefix(inline, " "))}, nil
	}
	trimmed := strings.TrimSpace(value)
	if strings.ContainsRune(trimmed, '\n') || strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		return text{"the text", []byte(value)}, nil
	}
	data, err := w.content(trimmed)
	return text{clip(clean(trimmed)), data}, err
}

// write writes a file as a whole or not at all, and says what it wrote.
func (w *work) write(name string, data []byte) (string, error) {
	name, err := inside(name)
	if err != nil {
		return "", err
	}
	isIt := func(other string) bool { return strings.EqualFold(other, name) } // some disks know no case
	if slices.Contains(strings.Split(strings.ToLower(name), "/"), ".git") || slices.ContainsFunc(w.protected, isIt) {
		return "", fail(RuleProtected, "%s may be read and not written", clip(name))
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	before, err := w.replaced(name)
	if err == nil {
		err = w.swap(name, data)
	}
	if err != nil {
		return "", explain(name, err)
	}
	w.written = append(w.written, name)
	return fmt.Sprintf("wrote %s: %s, %s, sha256 %s%s", clip(name), count(len(data), "byte"),
		count(len(split(data)), "line"), digest(data), before), nil
}

// replaced says what a new file would replace. Only a file, or nothing, can be.
func (w *work) replaced(name string) (string, error) {
	info, err := w.root.Stat(filepath.FromSlash(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// A link to nowhere is not followed, but it may lead out.
		if link, err := w.root.Lstat(filepath.FromSlash(name)); err == nil && link.Mode()&fs.ModeSymlink != 0 {
			return "", fail(RuleNotAFile, "%s is a link to nothing", clip(name))
		}
		return "", nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fail(RuleNotAFile, "%s is %s, not a file", clip(name), kind(info.Mode()))
	}
	return fmt.Sprintf("; it replaced a file of %s", count(int(info.Size()), "byte")), nil
}

// swap brings data to the disk under another name and then gives it its own.
func (w *work) swap(name string, data []byte) error {
	dir := path.Dir(name)
	if err := w.root.MkdirAll(filepath.FromSlash(dir), 0o755); err != nil {
		return err
	}
	partial := filepath.FromSlash(path.Join(dir, "."+path.Base(name)+".partial"))
	if err := w.root.Remove(partial); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := w.root.OpenFile(partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
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
