package explore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/source"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Saved is a failure as a scenario of its own.
type Saved struct {
	// Name is that of the scenario; FileName is made of it and has no folder.
	Name, FileName string
	Text           []byte
}

// Save writes a failed cell as a scenario file: that of the golden path with the
// cell's smallest perturbation in place of what it expects, so that the file fails as
// the cell did, and passes once the agent is mended. It stands by itself: the texts
// of files that the script names are put into it. Comments are kept. The scenario is
// the one that was explored, and its file must still be there.
func Save(sc scenarios.Scenario, cell *survival.Cell) (Saved, error) {
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
	s.Text, err = source.Edit(withoutSchema(text), changes(&sc, s.Name, aboutOf(&sc, cell), perturb))
	if err != nil {
		return Saved{}, fmt.Errorf("write scenario %s: %w", s.Name, err)
	}
	// What the file says may hang together in ways that an edit breaks, such as an
	// alias of what it takes away.
	_, found := scenarios.Parse(s.FileName, s.Text, noFiles{}, scenarios.Options{CheckExpr: gate.Check, CheckInvariant: gate.CheckInvariant})
	if err := found.Err(); err != nil {
		return Saved{}, fmt.Errorf("write scenario %s: its file cannot be made of %s: %w", s.Name, sc.File, err)
	}
	return s, nil
}

func changes(sc *scenarios.Scenario, name, about string, perturb []string) []source.Change {
	all := []source.Change{
		{Path: "name", Value: name},
		{Path: "about", Value: about},
		{Path: "proves"}, // the expectations that proved it are gone
		{Path: "trials"}, // the first was explored
		{Path: "perturb"},
		{Path: "expect", Key: "perturb", Value: perturb},
	}
	for path, answer := range sc.Backend.Answers() {
		if answer.Text != nil {
			all = append(all, source.Change{Path: "backend." + path + ".file", Key: "text", Value: *answer.Text})
		}
	}
	return all
}

// withoutSchema takes away the first line's comment for editors, whose path is
// relative to where the file stood.
func withoutSchema(text []byte) []byte {
	if first, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(first, []byte("# yaml-language-server:")) {
		return rest
	}
	return text
}

func aboutOf(sc *scenarios.Scenario, cell *survival.Cell) string {
	for _, f := range cell.Findings {
		if f.Severity == gate.Failing {
			said := f.Message
			if f.Rule != gate.InvariantRule && f.Evidence != "" {
				said += ": " + f.Evidence
			}
			return fmt.Sprintf("Off the path of %s. It broke: %s", sc.Name, clip(said))
		}
	}
	return fmt.Sprintf("Off the path of %s.", sc.Name)
}

// slug is what perturbations are called in a name.
func slug(perturb []string) string {
	words := strings.FieldsFunc(strings.ToLower(strings.Join(perturb, " ")), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.'
	})
	return strings.Join(words, "-")
}

// noFiles is a folder with nothing in it.
type noFiles struct{}

var errNoFiles = errors.New("a saved scenario needs no other file")

// Open implements fs.FS.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errNoFiles}
}
