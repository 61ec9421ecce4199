package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// selection has the accepted values of each field. An item must have one of them in
// each field that is named.
type selection map[string][]string

// fields returns the values of an item by which it can be selected.
var fields = map[string]func(detect.Item) []string{
	"id":         func(it detect.Item) []string { return []string{it.ID} },
	"lang":       func(it detect.Item) []string { return []string{it.Lang} },
	"label":      func(it detect.Item) []string { return []string{it.Label} },
	"category":   func(it detect.Item) []string { return it.Categories },
	"tag":        func(it detect.Item) []string { return it.Tags },
	"part":       func(it detect.Item) []string { return []string{it.Part} },
	"repo":       func(it detect.Item) []string { return []string{it.Repo} },
	"confidence": func(it detect.Item) []string { return []string{Confidence(it)} },
}

// Confidence returns how sure the label of an item is; high by default.
func Confidence(it detect.Item) string {
	if it.Confidence == "" {
		return detect.Confidences()[0]
	}
	return it.Confidence
}

// Fields returns the names of the fields by which items can be selected, sorted.
func Fields() []string { return slices.Sorted(maps.Keys(fields)) }

// parseSelection reads key=value pairs.
func parseSelection(only []string) (selection, error) {
	s := selection{}
	for _, pair := range only {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("--only %q is not of the form confidence=high", pair)
		}
		if key == "language" {
			key = "lang"
		}
		if fields[key] == nil {
			return nil, fmt.Errorf("--only %q: %w", pair, suggest.NotAmong("field", key, Fields()))
		}
		s[key] = append(s[key], value)
	}
	return s, nil
}

func (s selection) selects(item detect.Item) bool {
	for key, accepted := range s {
		if !slices.ContainsFunc(fields[key](item), func(v string) bool { return slices.Contains(accepted, v) }) {
			return false
		}
	}
	return true
}
