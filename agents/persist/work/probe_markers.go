package work

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/internal/glob"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// The bounds of a search.
const (
	maxFiles = 100_000
	maxBytes = 512 << 20
	// sniff is the number of bytes that are searched for NUL, which marks a binary file as in git.
	sniff = 8000
)

// skippedFolders are for version control, dependencies and recordings.
var skippedFolders = []string{
	".git", ".hg", ".svn", ".jj", "node_modules", "vendor", ".venv", "venv", "__pycache__", ".tox", ".rehearse", "rehearse-runs",
}

// generated are folders that tools write. Like paths that git ignores, they are searched only if a
// pattern of the plan begins with them.
var generated = []string{"dist", "build", "out", "target", ".next", ".nuxt", ".output", ".gradle", "coverage"}

// markers searches files for words that stand for unfinished work.
type markers struct {
	words [][]byte
	in    []glob.Pattern
	// literal are the patterns of the plan.
	literal []string
	dir     string
}

func newMarkers(spec plan.Probe, dir string) (*markers, error) {
	m := &markers{dir: dir, literal: spec.In}
	for _, word := range spec.Markers {
		m.words = append(m.words, []byte(word))
	}
	for _, pattern := range spec.In {
		p, err := glob.Compile(pattern)
		if err != nil {
			return nil, err
		}
		m.in = append(m.in, p)
	}
	return m, nil
}

// search is a search in progress.
type search struct {
	*markers
	root     *os.Root
	ignored  map[string]bool // paths that git ignores
	skipped  int             // number of ignored or generated paths
	found    findings
	files    int // searched files
	seen     int // all files
	bytes    int64
	withHits int
	big      int
	// doubt is the reason why the search is incomplete.
	doubt error
}

func (m *markers) probe(ctx context.Context) plan.CheckResult {
	root, err := os.OpenRoot(m.dir)
	if err != nil {
		return unknown("the files cannot be searched: %v", reason(err))
	}
	defer root.Close()
	s := &search{markers: m, root: root, ignored: ignored(ctx, m.dir)}
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ended := clock.Err(ctx); ended != nil {
			return ended
		}
		return s.visit(name, entry, err)
	})
	if err != nil {
		s.doubt = err
	}
	return s.result()
}

// visit visits one entry of the tree. It skips links: their targets are searched themselves or are
// outside of the folder.
func (s *search) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return s.skip(err)
	case entry.IsDir():
		if name != "." && slices.Contains(skippedFolders, path.Base(name)) {
			return fs.SkipDir
		}
		if s.isGenerated(name) {
			s.skipped++
			return fs.SkipDir
		}
		return nil
	case !entry.Type().IsRegular() || !s.wants(name):
		return nil
	case s.ignored[name] && !s.named(name):
		s.skipped++
		return nil
	}
	if s.seen++; s.seen > maxFiles {
		return fmt.Errorf("there are more than %d files; select fewer with in", maxFiles)
	}
	return s.file(name, entry)
}

// isGenerated reports whether a folder is generated or ignored.
func (s *search) isGenerated(name string) bool {
	return (s.ignored[name] || slices.Contains(generated, path.Base(name))) && !s.named(name)
}

// named reports whether a pattern of the plan begins with a path.
func (s *search) named(name string) bool {
	return slices.ContainsFunc(s.literal, func(in string) bool { return in == name || strings.HasPrefix(in, name+"/") })
}

func (s *search) wants(name string) bool {
	return len(s.in) == 0 || slices.ContainsFunc(s.in, func(p glob.Pattern) bool { return p.Match(name) })
}

func (s *search) file(name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return s.skip(err)
	}
	if info.Size() > maxFile {
		s.big++
		return nil
	}
	if s.bytes += info.Size(); s.bytes > maxBytes {
		return fmt.Errorf("the files have more than %d bytes; select fewer with in", maxBytes)
	}
	data, err := readFile(s.root, name)
	switch {
	case err != nil:
		return s.skip(err)
	case bytes.IndexByte(data[:min(len(data), sniff)], 0) >= 0:
		return nil
	}
	s.files++
	s.text(name, data)
	return nil
}

// skip continues after an error. The search is then incomplete, unless the file was removed meanwhile.
func (s *search) skip(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		s.doubt = err
	}
	return nil
}

// text searches one file, with at most one finding in each line.
func (s *search) text(name string, data []byte) {
	hits := s.hits(data)
	if len(hits) == 0 || isPlan(name, data) {
		return
	}
	s.withHits++
	line, from := 1, 0
	for _, at := range hits {
		line += bytes.Count(data[from:at], []byte("\n"))
		from = at
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		end := at
		if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
			end += n
		} else {
			end = len(data)
		}
		s.found.add(fmt.Sprintf("%s:%d: %s", name, line, bytes.TrimSpace(data[begin:end])))
	}
}

// hits returns the offset of the first marker in each line.
func (s *search) hits(data []byte) []int {
	var all []int
	for _, word := range s.words {
		for at := 0; ; {
			i := bytes.Index(data[at:], word)
			if i < 0 {
				break
			}
			at += i
			if standsAlone(data, at, word) {
				all = append(all, at)
			}
			at += len(word)
		}
	}
	slices.Sort(all)
	last := 0
	return slices.DeleteFunc(all, func(at int) bool {
		same := last > 0 && bytes.IndexByte(data[last-1:at], '\n') < 0
		if !same {
			last = at + 1
		}
		return same
	})
}

// standsAlone reports whether the word at an offset is not part of a longer word. An end that is
// not a letter, such as the @ of @todo, may have any neighbour.
func standsAlone(data []byte, at int, word []byte) bool {
	first, _ := utf8.DecodeRune(word)
	last, _ := utf8.DecodeLastRune(word)
	before, _ := utf8.DecodeLastRune(data[:at])
	after, _ := utf8.DecodeRune(data[at+len(word):])
	joined := inWord(first) && inWord(before) || inWord(last) && inWord(after)
	return !joined
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// isPlan reports whether a file is a plan, which contains the markers itself.
func isPlan(name string, data []byte) bool {
	if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
		return false
	}
	_, found := plan.Parse(name, data)
	return len(found) == 0
}

func (s *search) result() plan.CheckResult {
	words := string(bytes.Join(s.words, []byte(", ")))
	skipped := ""
	if s.skipped > 0 {
		skipped += fmt.Sprintf("; passed over as generated or ignored by git: %s", format.Plural(s.skipped, "path"))
	}
	if s.big > 0 {
		skipped += fmt.Sprintf("; passed over as larger than %d bytes: %s", maxFile, format.Plural(s.big, "file"))
	}
	switch {
	case s.found.count > 0:
		return plan.CheckResult{
			Verdict: plan.Fail, Items: s.found.list(),
			Details: fmt.Sprintf("%s with %s in %s%s", format.Plural(s.found.count, "line"), words, format.Plural(s.withHits, "file"), skipped),
		}
	case s.doubt != nil:
		return unknown("the search for %s is not complete: %v", words, reason(s.doubt))
	case s.files == 0:
		return unknown("no text file was searched for %s; look at in%s", words, skipped)
	}
	return plan.CheckResult{Verdict: plan.Pass, Details: fmt.Sprintf("no %s in %s%s", words, format.Plural(s.files, "file"), skipped)}
}
