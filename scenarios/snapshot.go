package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// MaxSnapshot limits the size of a snapshot, in bytes.
const MaxSnapshot = 1 << 20

// IsSnapshot reports whether a file has the name of a snapshot: ".snap" is its extension, or comes before it,
// as in "answer.snap.md". Only such files are ever rewritten or removed.
func IsSnapshot(name string) bool {
	base := path.Base(name)
	return path.Ext(base) == ".snap" || path.Ext(strings.TrimSuffix(base, path.Ext(base))) == ".snap" && !isScenario(base)
}

// loadSnapshot checks the names of the snapshot's files, and reads existing files.
func (c *Checker) loadSnapshot(s *expect.Snapshot, fsys fs.FS) {
	if s == nil {
		return
	}
	for i, pattern := range s.Ignore {
		if _, err := regexp.Compile(pattern); err != nil {
			c.Add(fmt.Sprintf("expect.snapshot.ignore[%d]", i), "", "the regular expression cannot be used: %v", err)
		}
	}
	s.Stored = nil
	keys := map[string]string{}
	for key, file := range s.Files() {
		at := "expect.snapshot." + key
		if !c.doc.Has(c.prefixed(at)) { // the short form
			at = "expect.snapshot"
		}
		if other, taken := keys[path.Clean(file)]; taken {
			c.Add(at, "", "%q is already the file of %s; each needs its own", file, other)
			continue
		}
		keys[path.Clean(file)] = key
		text, err := readSnapshot(fsys, file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			c.Add(at, "", "%v", err)
		default:
			if s.Stored == nil {
				s.Stored = map[string]string{}
			}
			s.Stored[key] = text
		}
	}
}

// readSnapshot reads a snapshot from the scenario's folder. It undoes the line breaks of Windows, which a version
// control system may have written.
func readSnapshot(fsys fs.FS, name string) (string, error) {
	clean := path.Clean(name)
	switch {
	case strings.ContainsAny(name, "\\\x00") || !fs.ValidPath(clean) || clean == ".":
		return "", fmt.Errorf("%q must be a relative path with slashes that stays in the scenario's folder", name)
	case !IsSnapshot(clean):
		return "", fmt.Errorf("the name %q must end in .snap, or in .snap and an extension such as .snap.md: "+
			"files with other names are never rewritten", name)
	}
	info, err := fs.Stat(fsys, clean)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the snapshot %q: %w", name, sanitize.WithoutPath(err))
	case info.IsDir():
		return "", fmt.Errorf("the snapshot %q is a folder; name a file", name)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("the snapshot %q is not a regular file", name)
	case info.Size() > MaxSnapshot:
		return "", fmt.Errorf("the snapshot %q has %d bytes; at most %d are allowed", name, info.Size(), MaxSnapshot)
	}
	data, err := fs.ReadFile(fsys, clean)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the snapshot %q: %w", name, sanitize.WithoutPath(err))
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", fmt.Errorf("the snapshot %q is a binary file, not UTF-8 text", name)
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// snapshotTwice reports a snapshot file that two scenarios share.
func (l *loader) snapshotTwice(p *parsed) {
	for key, file := range p.Expect.Snapshot.Files() {
		place := path.Join(path.Dir(p.File), file)
		if l.snapshots == nil {
			l.snapshots = map[string]string{}
		}
		if other, taken := l.snapshots[place]; taken && other != p.File {
			at := "expect.snapshot." + key
			if !p.doc.Has(at) {
				at = "expect.snapshot"
			}
			message := fmt.Sprintf("the snapshot %q is already used by %s; each scenario needs its own", file, other)
			l.found = append(l.found, p.doc.At(at, message, ""))
			continue
		}
		l.snapshots[place] = p.File
	}
}
