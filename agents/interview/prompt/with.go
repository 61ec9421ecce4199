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

// With returns a copy of the set in which texts replace those with the same names. Parts that depend
// on the register are written [[informal|formal]]. The version of the copy ends in "+own", and its
// hash differs.
func (s *Set) With(texts map[string]string) (*Set, error) {
	if len(texts) == 0 {
		return s, nil
	}
	own := *s
	own.Version += "+own"
	own.texts = map[session.Register]map[string]string{}
	for r, all := range s.texts {
		own.texts[r] = maps.Clone(all)
	}
	hash, known := sha256.New(), names()
	fmt.Fprintln(hash, s.Hash)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := Check(name, texts[name]); err != nil {
			return nil, fmt.Errorf("replace the prompt %s: %w", name, err)
		}
		fmt.Fprintf(hash, "%s\n%d\n%s", name, len(texts[name]), texts[name])
		if err := own.add(name+".md", []byte(texts[name]), known); err != nil {
			return nil, fmt.Errorf("replace the prompt %s: %w", name, err)
		}
	}
	own.Hash = hex.EncodeToString(hash.Sum(nil))
	return &own, nil
}

// Check validates a text that replaces the one with a name. The error is an *UnknownError if there is
// no such name.
func Check(name, text string) error {
	switch known := names(); {
	case !slices.Contains(known, name):
		return &UnknownError{Name: name, Nearest: suggest.Nearest(name, known)}
	case strings.TrimSpace(text) == "":
		return errors.New("the text is empty")
	case name == reinforce && !strings.Contains(text, "{complaint}"):
		return errors.New("the text lacks the placeholder {complaint}, which lists the findings about the refused text")
	}
	if name == missing && !strings.Contains(text, "{titles}") {
		return errors.New("the text lacks the placeholder {titles}, which lists the titles that the refused text did not name")
	}
	_, err := choose(text, 0)
	return err
}

// UnknownError reports a name that no text of a set has.
type UnknownError struct {
	Name string
	// Nearest is the most similar name, or "".
	Nearest string
}

// Error implements error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("there is no prompt %q; a prompt is named like a file of the shipped set, such as mirror or mirror/BLOC_01", e.Name)
}
