package action

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

type transformInput struct {
	Input  string `yaml:"input"`
	From   string `yaml:"from"`
	To     string `yaml:"to"`
	Output string `yaml:"output,omitempty"`
}

// transform converts a file or text to another format, into a file or the
// observation.
func (w *work) transform(in transformInput) (string, error) {
	from, err := formatOf(in.From)
	if err != nil {
		return "", err
	}
	to, err := formatOf(in.To)
	if err != nil {
		return "", err
	}
	t, err := w.given(in.Input)
	if err != nil {
		return "", err
	}
	doc, err := formats[from].decode(t.data)
	if err != nil {
		return "", fail(ruleBadContent, "%s is not %s: %v", t.name, from, err)
	}
	data, err := formats[to].encode(doc)
	if err != nil {
		return "", fail(ruleBadContent, "%s cannot be written as %s: %v", t.name, to, err)
	}
	if in.Output == "" {
		return fmt.Sprintf("%s as %s:\n%s", t.name, to, data), nil
	}
	return w.write(in.Output, data)
}

// formatOf returns a format by its name or a usual short name.
func formatOf(name string) (string, error) {
	known := strings.ToLower(strings.TrimSpace(name))
	switch known {
	case "yml":
		known = "yaml"
	case "md", "markdown-table", "markdown_table", "table":
		known = "markdown"
	case "text", "txt":
		known = "lines"
	}
	if _, ok := formats[known]; ok {
		return known, nil
	}
	if near := suggest.Nearest(known, formatNames()); near != "" {
		return "", fail(RuleBadInput, "the format %q is not known (did you mean %q?)", clip(name), near)
	}
	return "", fail(RuleBadInput, "the format %q is not known; there are %s", clip(name), strings.Join(formatNames(), ", "))
}
