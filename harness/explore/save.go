package explore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Saved is a failure as a separate scenario.
type Saved struct {
	// Name is the scenario's name; FileName is derived from it and has no folder.
	Name, FileName string
	Text           []byte
	// Files are the contents of the files that the scenario reads, by their slash-separated path
	// relative to the scenario's file.
	Files map[string][]byte
}

// Save converts a failed cell to a scenario file for folder: the golden path with the cell's
// smallest perturbation and without expectations, so that the file fails like the cell and passes
// after the agent is fixed. Texts of answers are inlined; scripts, captured frames and agreements
// are returned as Files to be written beside it; programs are named by their path from folder.
// Comments are kept. sc is the explored scenario, whose file must still exist; opts are the options
// with which it was read.
func Save(sc scenarios.Scenario, cell *result.Cell, folder string, opts scenarios.Options) (Saved, error) {
	perturb := cell.Shrunk
	if len(perturb) == 0 {
		perturb = cell.Perturb
	}
	text, err := scenarios.Text(&sc)
	if err != nil {
		return Saved{}, err
	}
	s := Saved{Name: sc.Name + "/" + slug(perturb)}
	s.FileName = strings.ReplaceAll(s.Name, "/", "-") + ".yaml"
	moved, err := relocate(&sc, folder, opts.Kinds)
	if err != nil {
		return Saved{}, fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	s.Text, err = yamlsrc.Edit(withoutSchema(text), append(changes(&sc, s.Name, aboutOf(&sc, cell), perturb), moved...))
	if err != nil {
		return Saved{}, fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	// Parts of the file may depend on each other in ways that an edit breaks, such as an alias of
	// a removed part.
	if s.Files, err = filesOf(&sc, s, opts); err != nil {
		return Saved{}, fmt.Errorf("write scenario %s: cannot derive it from %s: %w", s.Name, sc.File, err)
	}
	return s, nil
}

// filesOf validates the text of a saved scenario and returns the files that it reads from the
// folder of the explored one.
func filesOf(sc *scenarios.Scenario, s Saved, opts scenarios.Options) (map[string][]byte, error) {
	files := readFiles{of: noFiles{}, read: map[string][]byte{}}
	if !scenarios.Shipped(sc.File) {
		root, err := os.OpenRoot(filepath.Dir(filepath.FromSlash(sc.File)))
		if err != nil {
			return nil, fmt.Errorf("open the folder of the scenario: %w", err)
		}
		defer root.Close()
		files.of = root.FS()
	}
	_, found := scenarios.Parse(s.FileName, s.Text, files, opts)
	return files.read, found.Err()
}

func changes(sc *scenarios.Scenario, name, about string, perturb []string) []yamlsrc.Change {
	all := []yamlsrc.Change{
		{Path: "name", Value: name},
		{Path: "about", Value: about},
		{Path: "proves"}, // the expectations that proved it are gone
		{Path: "trials"}, // the first was explored
		{Path: "perturb"},
		{Path: "expect", Key: "perturb", Value: perturb},
	}
	for path, answer := range sc.Backend.Answers() {
		if answer.Text != "" {
			all = append(all, yamlsrc.Change{Path: "backend." + path + ".file", Key: "text", Value: answer.Text.String()})
		}
	}
	return all
}

// withoutSchema removes the editor comment on the first line, because its path is relative to the
// original folder.
func withoutSchema(text []byte) []byte {
	if first, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(first, []byte("# yaml-language-server:")) {
		return rest
	}
	return text
}

func aboutOf(sc *scenarios.Scenario, cell *result.Cell) string {
	for _, f := range cell.Findings {
		if f.Severity == gate.Failing {
			violation := f.Message
			if f.Rule != gate.InvariantRule && f.Evidence != "" {
				violation += ": " + f.Evidence
			}
			return fmt.Sprintf("%s with a perturbation that violates: %s", sc.Name, sanitize.Cut(violation, maxDetails))
		}
	}
	return fmt.Sprintf("%s with a perturbation.", sc.Name)
}

// slug returns a name for perturbations.
func slug(perturb []string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.Join(perturb, " ")), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.Join(words, "-")
}

// noFiles is an empty file system.
type noFiles struct{}

// Open implements fs.FS.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// readFiles records the content of each regular file that is opened.
type readFiles struct {
	of   fs.FS
	read map[string][]byte
}

// Open implements fs.FS.
func (r readFiles) Open(name string) (fs.File, error) {
	file, err := r.of.Open(name)
	if err != nil || r.read[name] != nil {
		return file, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSavedFile {
		return file, err
	}
	if r.read[name], err = fs.ReadFile(r.of, name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// maxSavedFile limits the size of a file that is saved with a scenario.
const maxSavedFile = 64 << 20

// SaveFailures writes a scenario file for each distinct failure of an exploration to a folder,
// which it creates. It does not overwrite files: those are returned as existing.
func SaveFailures(sc scenarios.Scenario, r *result.Exploration, folder string, opts scenarios.Options,
) (written, existing []string, err error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, nil, fmt.Errorf("create the folder for the failures: %w", err)
	}
	for _, f := range r.Failures() {
		saved, err := Save(sc, &r.Cells[f.Cell], folder, opts)
		if err != nil {
			return written, existing, fmt.Errorf("save a failure: %w", err)
		}
		file := filepath.Join(folder, saved.FileName)
		switch err := saved.Write(folder); {
		case errors.Is(err, os.ErrExist):
			existing = append(existing, file)
		case err != nil:
			return written, existing, fmt.Errorf("save a failure: %w", err)
		default:
			written = append(written, file)
		}
	}
	return written, existing, nil
}
