package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Set contains the prompts of one language. It is immutable and safe for concurrent use.
type Set struct {
	Language session.Language
	// Version is the version in the manifest, and Hash the SHA-256 of all files, in hexadecimal.
	Version, Hash string

	media media
	job   session.Job
	// texts are the files by name, without ".md", for each register.
	texts map[session.Register]map[string]string
}

// manifest is the content of manifest.yaml.
type manifest struct {
	Version string `yaml:"version"`
	// Media are the words for the media of block 2A.
	Media media `yaml:"media"`
}

type media struct {
	Series string `yaml:"series"`
	Film   string `yaml:"film"`
}

var shipped = map[session.Language]func() (*Set, error){
	session.French:  once(session.French),
	session.English: once(session.English),
}

func once(l session.Language) func() (*Set, error) {
	return sync.OnceValues(func() (*Set, error) {
		folder, err := fs.Sub(fixtures.Prompts, "prompts/"+string(l))
		if err != nil {
			return nil, fmt.Errorf("open the shipped prompts: %w", err)
		}
		s, found := read(folder, "prompts/"+string(l), l)
		return s, found.Err()
	})
}

// Open reads the sets of a folder: one in each subfolder that is named like a language. Diagnostics name
// files under name, and their list is complete. count counts the tokens of texts, for their budgets.
func Open(folder fs.FS, name string, count func(text string) int) ([]*Set, error) {
	var all []*Set
	var found yamlsrc.Diagnostics
	for _, l := range session.Languages() {
		texts, err := fs.Sub(folder, string(l))
		if err != nil {
			return nil, fmt.Errorf("open the prompts in %s: %w", name, err)
		}
		if _, err := fs.Stat(texts, "."); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		shown := path.Join(name, string(l))
		s, problems := read(texts, shown, l)
		if len(problems) == 0 {
			problems = s.overBudget(count, func(text string) string { return path.Join(shown, text+".md") })
		}
		all, found = append(all, s), append(found, problems...)
	}
	if len(all) == 0 {
		found = append(found, yamlsrc.Diagnostic{
			File: name, Message: fmt.Sprintf("no prompts; expected a folder for at least one language of %q", session.Languages()),
		})
	}
	found.Sort()
	return all, found.Err()
}

// Load returns the shipped set of a language.
func Load(l session.Language) (*Set, error) {
	load, ok := shipped[l]
	if !ok {
		return nil, fmt.Errorf("no prompts for language %q; available: %v", l, session.Languages())
	}
	return load()
}

// String returns the version and the first twelve digits of the hash. It identifies the set in
// recordings and ledgers.
func (s *Set) String() string { return s.Version + "@" + s.Hash[:12] }

// Fixed returns a fixed text in a register; the default is formal.
func (s *Set) Fixed(f session.Fixed, r session.Register) string {
	return s.in(r)["fixed/"+string(f)]
}

// Fallback returns the neutral text to show instead of invalid ones. The text for a batch contains
// questions with separators.
func (s *Set) Fallback(p session.Purpose, step session.Step, index int, m session.Medium, r session.Register) string {
	return s.in(r)[fallbackFor(p, step, index, m)]
}

func (s *Set) in(r session.Register) map[string]string {
	if texts, ok := s.texts[r]; ok {
		return texts
	}
	return s.texts[session.Formal]
}

// read reads a set: manifest.yaml and exactly the texts that Build, Fixed and Fallback use. Parts that
// depend on the register are written [[informal|formal]]. Its diagnostics name files under name.
func read(folder fs.FS, name string, l session.Language) (*Set, yamlsrc.Diagnostics) {
	s := &Set{Language: l, texts: map[session.Register]map[string]string{session.Informal: {}, session.Formal: {}}}
	for _, j := range ShippedJobs() {
		if j.Language == l {
			s.job = j
		}
	}
	hash, given := sha256.New(), map[string]bool{}
	var found yamlsrc.Diagnostics
	err := fs.WalkDir(folder, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, file)
		if err != nil {
			return err
		}
		given[file] = true
		// The length distinguishes two files from one with both texts.
		fmt.Fprintf(hash, "%s\n%d\n%s", file, len(data), data)
		found = append(found, s.addFile(path.Join(name, file), file, data)...)
		return nil
	})
	if err != nil {
		found = append(found, yamlsrc.Diagnostic{File: name, Message: "read the prompts: " + err.Error()})
	}
	s.Hash = hex.EncodeToString(hash.Sum(nil))
	for _, file := range setFiles() {
		if !given[file] && err == nil {
			found = append(found, yamlsrc.Diagnostic{File: path.Join(name, file), Message: "the file is missing"})
		}
	}
	return s, found
}

const manifestFile = "manifest.yaml"

// setFiles lists the files of a set.
func setFiles() []string {
	all := []string{manifestFile}
	for _, name := range names() {
		all = append(all, name+".md")
	}
	return all
}

// addFile adds the file of a set; shown is its name in diagnostics.
func (s *Set) addFile(shown, file string, data []byte) yamlsrc.Diagnostics {
	if file == manifestFile {
		var m manifest
		doc, found := yamlsrc.Decode(shown, data, &m)
		if len(found) == 0 && !versionPattern().MatchString(m.Version) {
			found = append(found, doc.At("version", `the version must be 1 to 40 letters, digits, ".", "_", "+" and "-"`, ""))
		}
		s.Version, s.media = m.Version, m.Media
		return found
	}
	if !slices.Contains(setFiles(), file) {
		return yamlsrc.Diagnostics{{
			File: shown, Message: "not a file of a prompt set; remove it", Nearest: suggest.Nearest(file, setFiles()),
		}}
	}
	name := strings.TrimSuffix(file, ".md")
	if problems := fileProblems(name, data, s.Language); len(problems) > 0 {
		return diagnostics(shown, data, problems)
	}
	s.add(name, string(data))
	return nil
}

var versionPattern = lazyregexp.New(`^[A-Za-z0-9._+-]{1,40}$`)

// add adds a text without problems.
func (s *Set) add(name, text string) {
	text = strings.TrimSpace(text)
	for i, r := range []session.Register{session.Informal, session.Formal} {
		s.texts[r][name], _, _ = choose(text, i)
	}
}

// choose replaces each [[informal|formal]] by one of its parts. The offset is that of an error.
func choose(text string, which int) (chosen string, offset int, err error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text[offset:], "[[")
		b.WriteString(before)
		if !ok {
			return b.String(), 0, nil
		}
		inside, after, ok := strings.Cut(rest, "]]")
		either := strings.Split(inside, "|")
		if !ok || len(either) != 2 {
			return "", offset + len(before), fmt.Errorf("expected [[informal|formal]] after %q", tail(before))
		}
		b.WriteString(either[which])
		offset = len(text) - len(after)
	}
}

// tail returns the end of a text, to locate a place in a file.
func tail(text string) string {
	runes := []rune(text)
	return string(runes[max(0, len(runes)-30):])
}
