package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// With returns a copy of the set with some texts replaced, by name. Parts that depend on the register
// are written [[informal|formal]]. The version of the copy ends in "+own", and its hash differs.
func (s *Set) With(texts map[string]string) (*Set, error) {
	if len(texts) == 0 {
		return s, nil
	}
	changed := *s
	changed.Version += "+own"
	changed.texts = map[session.Register]map[string]string{}
	for r, all := range s.texts {
		changed.texts[r] = maps.Clone(all)
	}
	hash := sha256.New()
	fmt.Fprintln(hash, s.Hash)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := Check(name, texts[name]); err != nil {
			return nil, fmt.Errorf("replace the prompt %s: %w", name, err)
		}
		fmt.Fprintf(hash, "%s\n%d\n%s", name, len(texts[name]), texts[name])
		changed.add(name, texts[name])
	}
	changed.Hash = hex.EncodeToString(hash.Sum(nil))
	return &changed, nil
}

// Check validates a replacement of the text with a name. The error is an *UnknownError if the name is
// unknown.
func Check(name, text string) error {
	if known := names(); !slices.Contains(known, name) {
		return &UnknownError{Name: name, Nearest: suggest.Nearest(name, known)}
	}
	if problems := textProblems(name, text); len(problems) > 0 {
		return errors.New(problems[0].message)
	}
	return nil
}

// UnknownError reports the name of a text that does not exist.
type UnknownError struct {
	Name string
	// Nearest is the most similar name; empty if none is similar.
	Nearest string
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown prompt %q; prompts are named like the shipped files, such as mirror or mirror/BLOC_01", e.Name)
}
