package action

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/glob"
	"github.com/rehearse-dev/rehearse/clock"
)

// look is the content of a scope.
type look struct {
	texts  []text
	passed []string // skipped files and folders, with the reason
	folder bool     // false for a single file
}

// scope reads the text files of a scope: a file, a folder, a pattern, or everything.
func (w *work) scope(name string) (look, error) {
	if isWhole(name) {
		return w.walk(".", nil)
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
	names := []string{"", ".", "all", "full", "full_codebase", "code", "codebase", "workspace"}
	return slices.Contains(names, strings.ToLower(strings.TrimSpace(scope)))
}

// walk reads the text files below a folder, in order.
func (w *work) walk(below string, pattern *glob.Pattern) (look, error) {
	l := look{folder: true}
	seen, size := 0, 0
	dirs := []string{below}
	for len(dirs) > 0 {
		dir := dirs[len(dirs)-1]
		dirs = dirs[:len(dirs)-1]
		entries, err := w.entries(dir)
		if err != nil {
			return look{}, err
		}
		var next []string
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			if seen++; seen > maxFiles {
				return look{}, fail(ruleTooMany, "there are more than %d files and folders; name a smaller scope", maxFiles)
			}
			if isPartial(e.Name()) {
				continue
			}
			if e.IsDir() && slices.Contains(skippedFolders, e.Name()) {
				l.passed = append(l.passed, name+": not looked at")
				continue
			}
			if e.IsDir() {
				next = append(next, name)
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
				return look{}, fail(ruleTooMany, "the files have more than %d bytes; name a smaller scope", maxBytes)
			}
			l.texts = append(l.texts, text{name, data})
			w.read = append(w.read, name)
		}
		slices.Reverse(next)
		dirs = append(dirs, next...)
	}
	slices.SortFunc(l.texts, func(a, b text) int { return strings.Compare(a.name, b.name) })
	slices.Sort(l.passed)
	return l, nil
}

// entries lists a folder of at most maxFiles entries.
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
		return nil, fail(ruleTooMany, "%s has more than %d entries; name a smaller scope", clip(dir), maxFiles)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// visit reads a file of a folder, or returns the reason to skip it.
func (w *work) visit(name string, e fs.DirEntry) (data []byte, why string) {
	if e.Type()&fs.ModeSymlink != 0 {
		return nil, "a link, not followed"
	}
	data, err := w.open(name)
	if err != nil {
		f, ok := errors.AsType[*failure](explain(name, err))
		if ok && f.rule == ruleBinary {
			return nil, "not text"
		}
		return nil, strings.TrimPrefix(explain(name, err).Error(), clip(name)+" is ")
	}
	return data, ""
}
