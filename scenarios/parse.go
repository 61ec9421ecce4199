package scenarios

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// Diagnostics lists the problems of scenario files with their positions.
type Diagnostics = yamlsrc.Diagnostics

// Options configures the validation of scenario files.
type Options struct {
	// Kinds are the kinds of agents that scenarios can drive.
	Kinds []Kind
	// Prices is the price table with the known models; nil means the shipped one.
	Prices *price.Table
	// CheckExpr validates an expression under expect.that; nil disables the check.
	// gate.Language.Check implements it.
	CheckExpr func(expr string) error
	// CheckInvariant validates an expression under invariants, which may read more facts.
	CheckInvariant func(expr string) error
	// CheckRequirement validates an id under proves of a file of the user and returns the nearest valid id, which may be
	// empty; nil accepts every id of the form of package requirement.
	CheckRequirement func(id string) (nearest string, err error)
	// Project is the folder in which rehearse runs, with the programs that commands of scenarios name outside the
	// folder of the scenario; nil without one.
	Project fs.FS
	// Folders are the folders where Load finds scenarios by name, besides the shipped ones
	// and the folders among its patterns. Missing folders are ignored.
	Folders []string
	// Other, if set, reports whether a file that a folder contains is not a scenario but the input of
	// another command. Load leaves it out; a file that a pattern names is always read. has reports whether the
	// file has a value at a path, such as a key.
	Other func(file string, text []byte, has func(path string) bool) bool
	// Edit, if set, changes the text of a file before it is parsed; the digest is that of the
	// changed text. Its error replaces the file's diagnostics. Several files may be changed at the same time.
	Edit func(file string, text []byte) ([]byte, error)

	driveType reflect.Type // DriveType(Kinds), which takes as long as parsing a file; nil if it is not known yet
}

// Parse parses a scenario. file is its name in diagnostics, fsys the folder of the files that its
// script names, whose text replaces their names. Use the FS of an os.Root, so that no symbolic link
// leads outside.
//
// With diagnostics the scenario must not be used.
func Parse(file string, data []byte, fsys fs.FS, opts Options) (Scenario, Diagnostics) {
	p := parse(file, data, fsys, opts)
	return p.Scenario, p.found
}

func parse(file string, data []byte, fsys fs.FS, opts Options) parsed {
	sc := Scenario{File: file}
	if opts.Edit != nil {
		edited, err := opts.Edit(file, data)
		if err != nil {
			doc, _ := yamlsrc.Decode(file, data, &Scenario{})
			return parsed{Scenario: sc, doc: doc, found: Diagnostics{doc.At("", err.Error(), "")}}
		}
		data = edited
	}
	doc, found := yamlsrc.Decode(file, data, &sc)
	sum := newDigest()
	sum.file(path.Base(file), data)
	if doc.Has("") { // otherwise it could not be parsed
		c := Checker{doc: doc, decoding: found, opts: opts, sum: sum, file: file, fsys: fsys}
		if doc.Has("drive") {
			found = append(found, c.decodeDrive(&sc.Drive)...)
			c.decoding = found
		}
		found = append(found, c.addScript(&sc.Backend, fsys, sum)...)
		if k := c.kind(); k.Complete != nil {
			k.Complete(&c, sc.Drive.Options, &sc)
		}
		c.check(&sc)
		c.checkScores(&sc, fsys, sum)
		c.loadFiles(&sc.Backend.Script, "backend", fsys, sum)
		c.loadSnapshot(sc.Expect.Snapshot, fsys)
		found = append(found, c.found...)
		found.Sort()
	}
	if !strings.HasPrefix(file, shippedPrefix) {
		sc.Where = where(doc, sc.Drive.Kind)
	}
	sc.Digest, sc.Files = sum.String(), sum.files
	sc.setDefaults()
	return parsed{Scenario: sc, doc: doc, found: found}
}

// maxWhere limits the recorded lines of each kind.
const maxWhere = 200

// where records the lines of what findings can be about: the expectations, the driven agent, its user and the scripts.
func where(doc *yamlsrc.Document, kind string) map[string]int {
	user := "drive." + kind + ".user"
	lines := doc.Lines(maxWhere, 2, "expect")
	maps.Copy(lines, doc.Lines(maxWhere, 1, "name", "drive", "invariants", "perturb",
		"backend.replies", "backend.rules", user, user+".goals", user+".backend.replies", user+".backend.rules"))
	maps.Copy(lines, doc.Lines(maxWhere, 5, "mcp")) // down to a line of a tool
	return lines
}

func (sc *Scenario) setDefaults() {
	sc.Trials = max(sc.Trials, 1)
	sc.Seed = max(sc.Seed, 1)
	if sc.Backend.Lenient {
		sc.Expect.Allow = append(sc.Expect.Allow, expect.UnusedLine, expect.UnexpectedCall)
	}
}

// loadFiles reads the files that script lines name, and adds them to the digest.
func (c *Checker) loadFiles(s *mocks.Script, at string, fsys fs.FS, sum *digest) {
	for path, answer := range s.Answers() {
		if m := answer.Media; m != nil && m.File != "" {
			if err := m.Load(fsys); err != nil {
				c.missingFile(join(at, path+".media.file"), m.File, fsys, err)
			}
			sum.part([]byte(m.File))
			sum.file(m.File, m.Content())
		}
		name := answer.File
		if name == "" {
			continue
		}
		if err := answer.Load(fsys); err != nil {
			c.missingFile(join(at, path+".file"), name, fsys, err)
			continue
		}
		sum.part([]byte(name))
		sum.file(name, []byte(answer.Text.String()))
	}
	c.loadFrames(s, at, fsys, sum)
}

func (c *Checker) missingFile(at, name string, fsys fs.FS, err error) {
	nearest := ""
	if entries, listErr := fs.ReadDir(fsys, path.Dir(path.Clean(name))); listErr == nil && errors.Is(err, fs.ErrNotExist) {
		var names []string
		for _, e := range entries {
			names = append(names, path.Join(path.Dir(name), e.Name()))
		}
		nearest = suggest.Nearest(path.Clean(name), names)
	}
	c.Add(at, nearest, "%v", err)
}
