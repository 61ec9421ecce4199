package scenarios

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/source"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// shipped holds the scenarios that come with the program.
//
//go:embed loop stop interview persist react all command http coding-agents
var shipped embed.FS

// shippedPrefix begins the file names of shipped scenarios in diagnostics and
// recordings, so that they are not looked for on disk.
const shippedPrefix = "shipped:"

// Names lists the shipped scenarios, sorted.
func Names() []string {
	var names []string
	_ = fs.WalkDir(shipped, ".", func(name string, entry fs.DirEntry, _ error) error {
		if !entry.IsDir() && isScenario(name) {
			names = append(names, strings.TrimSuffix(name, path.Ext(name)))
		}
		return nil
	})
	slices.Sort(names)
	return names
}

// Load reads the scenarios that the patterns select, sorted by name. A pattern is
// a file or folder on disk (with everything in it that ends in .yaml or .yml),
// else the name of a shipped scenario, in which * stands for any part of a name
// between slashes. What several patterns select is read once.
//
// All that is wrong with any file is reported at once. It is also wrong when a
// pattern or the tags select nothing, and when two files use the same name. With
// diagnostics nothing should be run.
func Load(patterns []string, opts Options) ([]Scenario, Diagnostics) {
	l := loader{opts: opts, read: make(map[string]bool), named: make(map[string]source.Diagnostic)}
	for _, pattern := range patterns {
		l.pattern(pattern)
	}
	slices.SortStableFunc(l.set, func(a, b Scenario) int { return cmp.Compare(a.Name, b.Name) })
	if len(opts.Tags) > 0 && len(l.found) == 0 {
		l.keepTagged()
	}
	if len(patterns) == 0 {
		l.fail("(no pattern)", "no scenario is selected; name a shipped one, such as 'loop/*', or a file or folder", "")
	}
	return l.set, l.found
}

type loader struct {
	opts  Options
	set   []Scenario
	found Diagnostics
	read  map[string]bool
	named map[string]source.Diagnostic // where each name is
}

func (l *loader) fail(file, message, nearest string) {
	l.found = append(l.found, source.Diagnostic{File: file, Message: message, Nearest: nearest})
}

func (l *loader) pattern(pattern string) {
	info, err := os.Stat(pattern)
	switch {
	case err == nil && info.IsDir():
		l.folder(pattern)
	case err == nil:
		l.file(pattern)
	case isScenario(pattern) || !errors.Is(err, fs.ErrNotExist):
		l.fail(pattern, "cannot be read: "+reason(err), nearestFile(pattern))
	default:
		l.shipped(pattern)
	}
}

// reason is what went wrong, without the operation and the path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

func nearestFile(file string) string {
	folder := filepath.Dir(file)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		names = append(names, filepath.Join(folder, e.Name()))
	}
	return suggest.Nearest(filepath.Clean(file), names)
}

func isScenario(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

func (l *loader) shipped(pattern string) {
	names, matched := Names(), false
	for _, name := range names {
		if ok, err := path.Match(pattern, name); err != nil || !ok {
			continue
		}
		matched = true
		l.shippedFile(name)
	}
	if matched {
		return
	}
	nearest := suggest.Nearest(pattern, names)
	if nearest == "" && strings.ContainsAny(pattern, "*?[") {
		folders := make([]string, len(names))
		for i, name := range names {
			folders[i] = path.Dir(name) + "/*"
		}
		nearest = suggest.Nearest(pattern, slices.Compact(folders))
	}
	l.fail(pattern, "there is no such file or folder, and no shipped scenario of that name", nearest)
}

func (l *loader) shippedFile(name string) {
	for _, ext := range []string{".yaml", ".yml"} {
		data, err := shipped.ReadFile(name + ext)
		if err != nil {
			continue
		}
		folder, err := fs.Sub(shipped, path.Dir(name))
		if err != nil {
			l.fail(shippedPrefix+name+ext, err.Error(), "")
			return
		}
		l.parse(shippedPrefix+name+ext, data, folder)
	}
}

// folder reads all scenarios below a folder. Hidden files and folders are left
// out, and symbolic links are not followed.
func (l *loader) folder(root string) {
	some := false
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			l.fail(name, "cannot be read: "+reason(err), "")
			return nil
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != root
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && entry.Type().IsRegular() && isScenario(name):
			some = true
			l.file(name)
		}
		return nil
	})
	if err != nil {
		l.fail(root, "cannot be read: "+reason(err), "")
	} else if !some {
		l.fail(root, "the folder holds no scenario; their files end in .yaml", "")
	}
}

func (l *loader) file(name string) { l.open(name, l.parse) }

// open hands a file's content and its folder, which nothing leads out of, to use.
func (l *loader) open(name string, use func(file string, data []byte, folder fs.FS)) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		l.fail(name, "cannot be read: "+reason(err), "")
		return
	}
	defer root.Close()
	base := filepath.Base(name)
	info, err := root.Stat(base) // a pipe or a device would block the open
	switch {
	case err != nil:
		l.fail(name, "cannot be read: "+reason(err), "")
		return
	case !info.Mode().IsRegular():
		l.fail(name, "is not a regular file", "")
		return
	case info.Size() > source.MaxBytes:
		l.fail(name, fmt.Sprintf("the file has %d bytes; at most %d are allowed", info.Size(), source.MaxBytes), "")
		return
	}
	data, err := root.ReadFile(base)
	if err != nil {
		l.fail(name, "cannot be read: "+reason(err), "")
		return
	}
	use(filepath.ToSlash(filepath.Clean(name)), data, root.FS())
}

func (l *loader) parse(file string, data []byte, folder fs.FS) {
	if l.read[file] {
		return
	}
	l.read[file] = true
	sc, doc, found := parse(file, data, folder, l.opts)
	l.found = append(l.found, found...)
	if sc.Name != "" {
		here := doc.At("name", "", "")
		if first, taken := l.named[sc.Name]; taken {
			here.Message = fmt.Sprintf("the name %q is taken by %s:%d:%d", sc.Name, first.File, first.Line, first.Column)
			l.found = append(l.found, here)
		} else {
			l.named[sc.Name] = here
		}
	}
	l.set = append(l.set, sc)
}

// keepTagged drops the scenarios without one of the tags.
func (l *loader) keepTagged() {
	var tags []string
	for _, sc := range l.set {
		tags = append(tags, sc.Tags...)
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	for _, tag := range l.opts.Tags {
		if !slices.Contains(tags, tag) {
			message := fmt.Sprintf("no selected scenario has the tag; there are %s", strings.Join(tags, ", "))
			l.fail("--tag "+tag, message, suggest.Nearest(tag, tags))
		}
	}
	l.set = slices.DeleteFunc(l.set, func(sc Scenario) bool {
		return !slices.ContainsFunc(sc.Tags, func(tag string) bool { return slices.Contains(l.opts.Tags, tag) })
	})
}

// Shipped reports whether a scenario's file is one of those that come with the program,
// which is no file on disk.
func Shipped(file string) bool { return strings.HasPrefix(file, shippedPrefix) }
