package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Set contains the prompts of one language. It is immutable and safe for concurrent use.
type Set struct {
	Language session.Language
	// Version is the version in the manifest, and Hash the SHA-256 of all files, in hexadecimal.
	Version, Hash string

	media media
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
		return read(folder, l)
	})
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
// depend on the register are written [[informal|formal]].
func read(folder fs.FS, l session.Language) (*Set, error) {
	s := &Set{Language: l, texts: map[session.Register]map[string]string{session.Informal: {}, session.Formal: {}}}
	hash, known := sha256.New(), names()
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		// The length distinguishes two files from one with both texts.
		fmt.Fprintf(hash, "%s\n%d\n%s", name, len(data), data)
		return s.add(name, data, known)
	})
	if err != nil {
		return nil, fmt.Errorf("read the prompts in %q: %w", l, err)
	}
	s.Hash = hex.EncodeToString(hash.Sum(nil))
	if s.Version == "" {
		return nil, fmt.Errorf("read the prompts in %q: manifest.yaml is missing", l)
	}
	for _, name := range known {
		if s.texts[session.Formal][name] == "" {
			return nil, fmt.Errorf("read the prompts in %q: %s.md is missing or empty", l, name)
		}
	}
	return s, nil
}

func (s *Set) add(name string, data []byte, known []string) error {
	if name == "manifest.yaml" {
		var m manifest
		if _, wrong := yamlsrc.Decode(name, data, &m); len(wrong) > 0 {
			return wrong
		}
		s.Version, s.media = m.Version, m.Media
		return nil
	}
	key, ok := strings.CutSuffix(name, ".md")
	if !ok || !slices.Contains(known, key) {
		return fmt.Errorf("%s is not a file of a prompt set; remove it", name)
	}
	text := strings.TrimSpace(string(data))
	for i, r := range []session.Register{session.Informal, session.Formal} {
		spoken, err := choose(text, i)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.texts[r][key] = spoken
	}
	return nil
}

// choose replaces each [[informal|formal]] by one of its parts.
func choose(text string, which int) (string, error) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "[[")
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		inside, after, ok := strings.Cut(rest, "]]")
		either := strings.Split(inside, "|")
		if !ok || len(either) != 2 {
			return "", fmt.Errorf("expected [[informal|formal]] after %q", tail(before))
		}
		b.WriteString(either[which])
		text = after
	}
}

// tail returns the end of a text, to locate a place in a file.
func tail(text string) string {
	runes := []rune(text)
	return string(runes[max(0, len(runes)-30):])
}
