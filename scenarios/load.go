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
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// shipped has the scenarios that come with the program.
//
//go:embed loop stop interview persist react all coding-agents
var shipped embed.FS

// shippedPrefix begins the file names of shipped scenarios in diagnostics and recordings, because
// they are not on disk.
const shippedPrefix = "shipped:"

// Names returns the sorted names of the shipped scenarios.
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
//   - a file, or a folder: everything in it that ends in .yaml or .yml;
//   - else the name of scenarios, in which * stands for any part of a name between
//     slashes: of those in Options.Folders and in the folders among the patterns, and of
//     the shipped ones;
//   - else a path with wildcards, such as "scenarios/refund-*";
//   - "shipped:" and a name, which is that of shipped scenarios only.
//
// A pattern that begins with "./", "../" or "/" or ends in .yaml or .yml is only a path. A
// scenario that several patterns select is read once.
//
// All problems of all files are reported at once, also patterns that select nothing, a name that
// selects different scenarios in a folder and among the shipped ones, and a name used by two
// files. With diagnostics nothing should be run.
func Load(patterns []string, opts Options) ([]Scenario, Diagnostics) {
	opts.driveType = DriveType(opts.Kinds)
	l := loader{opts: opts, patterns: patterns, read: make(map[string]bool), named: make(map[string]yamlsrc.Diagnostic)}
	for _, pattern := range patterns {
		l.pattern(pattern)
	}
	slices.SortStableFunc(l.set, func(a, b Scenario) int { return cmp.Compare(a.Name, b.Name) })
	if len(patterns) == 0 {
		l.fail("(no pattern)", "no scenario is selected; name one, such as 'loop/*', or a file or folder", "")
	}
	return l.set, l.found
}

type loader struct {
	opts     Options
	patterns []string
	set      []Scenario
	found    Diagnostics
	read     map[string]bool
	named    map[string]yamlsrc.Diagnostic // where each name is
	// snapshots has the scenario file of each snapshot.
	snapshots map[string]string
	own       *index // of the scenarios in folders; nil until a name is looked up
}

func (l *loader) fail(file, message, nearest string) {
	l.found = append(l.found, yamlsrc.Diagnostic{File: file, Message: message, Nearest: nearest})
}

func (l *loader) pattern(pattern string) {
	if pattern == "" {
		l.fail("(empty pattern)", "name a scenario, a file or a folder", "")
		return
	}
	if name, ok := strings.CutPrefix(pattern, shippedPrefix); ok {
		l.shippedOnly(pattern, name)
		return
	}
	info, err := os.Stat(pattern)
	switch {
	case err == nil && info.IsDir():
		l.folder(pattern)
	case err == nil:
		l.file(pattern)
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
		l.fail(pattern, "cannot be read: "+sanitize.WithoutPath(err).Error(), nearestFile(pattern))
	case isPath(pattern):
		if !l.files(pattern) {
			l.fail(pattern, "cannot be read: "+sanitize.WithoutPath(err).Error(), nearestFile(pattern))
		}
	case !l.byName(pattern) && !l.files(pattern):
		l.notFound(pattern)
	}
}

// isPath reports whether a pattern can only be a path.
func isPath(pattern string) bool {
	return isScenario(pattern) || filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../")
}

// files reads the scenario files that match a path with wildcards, and reports whether there are
// any.
func (l *loader) files(pattern string) bool {
	if !hasWildcard(pattern) {
		return false
	}
	names, err := filepath.Glob(pattern)
	if err != nil {
		return false // it is not a name, either
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !isScenario(name) })
	for _, name := range names {
		l.file(name)
	}
	return len(names) > 0
}

func hasWildcard(pattern string) bool { return strings.ContainsAny(pattern, "*?[") }

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

// folder reads all scenarios below a folder. It skips hidden files and folders, and does not follow
// symbolic links.
func (l *loader) folder(root string) {
	var names []string
	failed := func(name string, err error) { l.fail(name, "cannot be read: "+sanitize.WithoutPath(err).Error(), "") }
	walk(root, failed, func(name string) { names = append(names, name) })
	if len(names) == 0 {
		l.fail(root, "the folder has no scenario; names of scenario files end in .yaml"+l.elsewhere(root), "")
	}
	names = slices.DeleteFunc(names, func(name string) bool { return l.read[inDiagnostics(name)] })
	for batch := range slices.Chunk(names, batchSize) {
		for _, p := range l.parseAll(batch) {
			if l.opts.Other == nil || p.data == nil || !l.opts.Other(p.File, p.data, p.doc.Has) {
				l.add(p)
			}
		}
	}
}

// batchSize is the number of files of a folder that are in memory with their syntax trees.
const batchSize = 64

// parseAll parses files, as many at the same time as there are processors.
func (l *loader) parseAll(names []string) []parsed {
	all := make([]parsed, len(names))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				all[i] = l.parse(names[i])
			}
		})
	}
	workers.Wait()
	return all
}

// walk calls found for each scenario file below a folder, in lexical order, and failed
// for what cannot be read.
func walk(root string, failed func(name string, err error), found func(name string)) {
	_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error { // returns no other error
		if err != nil {
			failed(name, err)
			return nil
		}
		hidden := strings.HasPrefix(entry.Name(), ".") && name != root
		switch {
		case hidden && entry.IsDir():
			return fs.SkipDir
		case !hidden && entry.Type().IsRegular() && isScenario(name):
			found(name)
		}
		return nil
	})
}

func (l *loader) file(name string) {
	if !l.read[inDiagnostics(name)] {
		l.add(l.parse(name))
	}
}

// parse reads and parses a file. Unlike the other methods, several goroutines may call it.
func (l *loader) parse(name string) parsed {
	var p parsed
	problem := open(name, func(file string, data []byte, folder fs.FS) {
		p = parse(file, data, folder, l.opts)
		p.data = data
	})
	if problem != nil {
		p.found = Diagnostics{*problem}
	}
	return p
}

// inDiagnostics returns the name of a file in diagnostics.
func inDiagnostics(name string) string { return filepath.ToSlash(filepath.Clean(name)) }

// open hands a file's content and its folder, which nothing leads out of, to use, or reports why it cannot be read.
func open(name string, use func(file string, data []byte, folder fs.FS)) *yamlsrc.Diagnostic {
	unreadable := func(err error) *yamlsrc.Diagnostic {
		return &yamlsrc.Diagnostic{File: name, Message: "cannot be read: " + sanitize.WithoutPath(err).Error()}
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return unreadable(err)
	}
	defer root.Close()
	base := filepath.Base(name)
	info, err := root.Stat(base) // a pipe or a device would block the open
	switch {
	case err != nil:
		return unreadable(err)
	case !info.Mode().IsRegular():
		return &yamlsrc.Diagnostic{File: name, Message: "is not a regular file"}
	case info.Size() > yamlsrc.MaxBytes:
		return &yamlsrc.Diagnostic{
			File: name, Message: fmt.Sprintf("the file has %d bytes; at most %d are allowed", info.Size(), yamlsrc.MaxBytes),
		}
	}
	data, err := root.ReadFile(base)
	if err != nil {
		return unreadable(err)
	}
	use(inDiagnostics(name), data, root.FS())
	return nil
}

// parsed is a parsed scenario file with its problems.
type parsed struct {
	Scenario
	doc   *yamlsrc.Document
	found Diagnostics
	data  []byte // the text of a file on disk
}

// add adds a scenario unless its file was already added.
func (l *loader) add(p parsed) {
	if l.read[p.File] {
		return
	}
	l.found = append(l.found, p.found...)
	if p.doc == nil { // it cannot be read
		return
	}
	l.read[p.File] = true
	if p.Name != "" {
		here := p.doc.At("name", "", "")
		if first, taken := l.named[p.Name]; taken {
			here.Message = fmt.Sprintf("the name %q is already used in %s:%d:%d", p.Name, first.File, first.Line, first.Column)
			l.found = append(l.found, here)
		} else {
			l.named[p.Name] = here
		}
	}
	l.snapshotTwice(&p)
	l.set = append(l.set, p.Scenario)
}

// Shipped reports whether a scenario's file is a shipped one, which is not on disk.
func Shipped(file string) bool { return strings.HasPrefix(file, shippedPrefix) }
