package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

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
	hash, known := sha256.New(), names()
	fmt.Fprintln(hash, s.Hash)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := Check(name, texts[name]); err != nil {
			return nil, fmt.Errorf("replace the prompt %s: %w", name, err)
		}
		fmt.Fprintf(hash, "%s\n%d\n%s", name, len(texts[name]), texts[name])
		if err := changed.add(name+".md", []byte(texts[name]), known); err != nil {
			return nil, fmt.Errorf("replace the prompt %s: %w", name, err)
		}
	}
	changed.Hash = hex.EncodeToString(hash.Sum(nil))
	return &changed, nil
}

// Check validates a replacement of the text with a name. The error is an *UnknownError if the name is
// unknown.
func Check(name, text string) error {
	switch known := names(); {
	case !slices.Contains(known, name):
		return &UnknownError{Name: name, Nearest: suggest.Nearest(name, known)}
	case strings.TrimSpace(text) == "":
		return errors.New("the text is empty")
	case name == reinforce && !strings.Contains(text, "{complaint}"):
		return errors.New("the text lacks the placeholder {complaint} for the findings about the rejected text")
	case name == missing && !strings.Contains(text, "{titles}"):
		return errors.New("the text lacks the placeholder {titles} for the titles missing from the rejected text")
	}
	_, err := choose(text, 0)
	return err
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
