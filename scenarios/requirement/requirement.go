// Package requirement reads lists of requirements, and checks the ids that scenarios prove against them.
package requirement

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Requirement is one thing that a system must do.
type Requirement struct {
	// ID identifies the requirement; see CheckID.
	ID string `yaml:"id" json:"id"`
	// Text is the requirement in words.
	Text string `yaml:"text,omitempty" json:"text,omitempty"`
	// Link is where the requirement comes from: an address, or any other source.
	Link string `yaml:"link,omitempty" json:"link,omitempty"`
}

// List is a list of requirements, in the order of its file.
type List struct {
	// File is the name of the file, as given by the user.
	File         string
	Requirements []Requirement
}

// The limits of a list. They are far above the needs of people. YAML has its own maximum size.
const (
	maxBytes        = 8 << 20
	maxRequirements = 20_000
	maxID           = 64
	maxText         = 10_000
	maxLink         = 2_000
)

var idForm = lazyregexp.New(`^[\pL\pN][\pL\pN._/-]*$`)

// CheckID returns an error unless id can be the id of a requirement.
func CheckID(id string) error {
	if len(id) > utf8.UTFMax*maxID || utf8.RuneCountInString(id) > maxID || !idForm().MatchString(id) {
		return fmt.Errorf(`%q is not the id of a requirement; write letters, digits, "-", "_", "." and "/", at most %d, such as "REQ-12"`,
			clip(id), maxID)
	}
	return nil
}

// clip returns the beginning of a text for a message.
func clip(s string) string {
	if r := []rune(s[:min(len(s), utf8.UTFMax*(maxID+1))]); len(r) > maxID {
		return string(r[:maxID]) + "…"
	}
	return s
}

// Read reads a list from a file.
func Read(file string) (*List, error) {
	data, err := input.ReadFile("list of requirements", file, maxBytes)
	if err != nil {
		return nil, err
	}
	list, found := Parse(file, data)
	if err := found.Err(); err != nil {
		return nil, err
	}
	return list, nil
}

// Parse parses a list: CSV if the name of the file ends in .csv, and YAML if it ends in .yaml or .yml. With
// diagnostics the list must not be used.
func Parse(file string, data []byte) (*List, yamlsrc.Diagnostics) {
	list := &List{File: file}
	var at position
	var found yamlsrc.Diagnostics
	switch extension := strings.ToLower(filepath.Ext(file)); {
	case len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(bom)))) == 0:
		return list, yamlsrc.Diagnostics{{File: file, Message: "the file is empty", Expected: "a list of requirements"}}
	case extension == ".csv":
		data = bytes.TrimPrefix(data, []byte(bom))
		list.Requirements, at, found = parseCSV(file, data)
	case slices.Contains([]string{".yaml", ".yml"}, extension):
		doc, problems := yamlsrc.Decode(file, data, &list.Requirements)
		at = func(i int, key string) yamlsrc.Diagnostic { return doc.At(fmt.Sprintf("[%d].%s", i, key), "", "") }
		found = problems
	default:
		return list, yamlsrc.Diagnostics{{File: file, Message: "is neither YAML nor CSV", Expected: "a name that ends in .yaml, .yml or .csv"}}
	}
	if len(found) == 0 {
		found = list.check(at)
	}
	return list, found.In(data)
}

// position returns a diagnostic without a message for a key of the i-th requirement.
type position func(i int, key string) yamlsrc.Diagnostic

// check returns what is wrong with the requirements.
func (l *List) check(at position) (found yamlsrc.Diagnostics) {
	if n := len(l.Requirements); n == 0 || n > maxRequirements {
		return yamlsrc.Diagnostics{{
			File: l.File, Message: fmt.Sprintf("the list has %d requirements", n), Expected: fmt.Sprintf("1 to %d", maxRequirements),
		}}
	}
	report := func(i int, key, format string, args ...any) {
		d := at(i, key)
		d.Message = fmt.Sprintf(format, args...)
		found = append(found, d)
	}
	first := make(map[string]int, len(l.Requirements))
	for i, r := range l.Requirements {
		before, twice := first[r.ID]
		switch err := CheckID(r.ID); {
		case err != nil:
			report(i, "id", "%v", err)
		case twice:
			report(i, "id", "the id %q is given twice; first on line %d", r.ID, at(before, "id").Line)
		default:
			first[r.ID] = i
		}
		if utf8.RuneCountInString(r.Text) > maxText {
			report(i, "text", "the text has more than %d characters", maxText)
		}
		if utf8.RuneCountInString(r.Link) > maxLink {
			report(i, "link", "the link has more than %d characters", maxLink)
		}
	}
	return found
}
