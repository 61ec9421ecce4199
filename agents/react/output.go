package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// maxOutput is the largest output that is validated, in bytes.
const maxOutput = yamlsrc.MaxBytes

// maxBlocks is the largest number of fenced blocks that are tried.
const maxBlocks = 8

// outputValue returns the value of an output that matches the schema of the contract: JSON or YAML, in
// a fence or bare, or the text itself. Otherwise it returns the problem. Both are empty if the contract
// has no schema.
func outputValue(c agentfile.Contract, text string) (value json.RawMessage, problem string) {
	if c.Output == nil {
		return nil, ""
	}
	if len(text) > maxOutput {
		return nil, fmt.Sprintf("the output has %d bytes; at most %d can be held against the schema", len(text), maxOutput)
	}
	blocks := fencedBlocks(text)
	for _, candidate := range append(blocks[:min(len(blocks), maxBlocks)], text) {
		found, ok := parseValue(candidate)
		if !ok {
			continue
		}
		err := c.CheckOutput(found)
		if err == nil {
			return found, ""
		}
		if problem == "" {
			problem = "the output: " + err.Error()
		}
	}
	quoted, err := json.Marshal(strings.TrimSpace(text))
	if err == nil && c.CheckOutput(quoted) == nil {
		return quoted, ""
	}
	if problem == "" {
		problem = "the output has neither JSON nor YAML, and the contract's schema asks for a value"
	}
	return nil, problem
}

// parseValue parses a text as JSON, which may be below comment lines, or otherwise as a YAML
// mapping or list.
func parseValue(text string) (json.RawMessage, bool) {
	data := []byte(strings.TrimSpace(text))
	if bare := withoutComments(data); json.Valid(bare) {
		return bare, true
	}
	var v any
	if _, found := yamlsrc.Decode("output", data, &v); len(found) > 0 {
		return nil, false
	}
	switch v.(type) {
	case map[string]any, []any:
		encoded, err := json.Marshal(v)
		return encoded, err == nil
	default:
		return nil, false
	}
}

// withoutComments returns a text without its leading comment lines.
func withoutComments(data []byte) []byte {
	for bytes.HasPrefix(data, []byte("#")) {
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		data = bytes.TrimSpace(rest)
	}
	return data
}

// fencedBlocks returns the contents of the fenced blocks of a text.
func fencedBlocks(text string) []string {
	var blocks []string
	fence, begin, at := "", 0, 0
	for l := range strings.Lines(text) {
		mark := fenceOf(l)
		at += len(l)
		switch {
		case fence == "" && mark != "":
			fence, begin = mark, at
		case fence != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(l) == mark:
			blocks = append(blocks, text[begin:at-len(l)])
			fence = ""
		}
	}
	return blocks
}

// fenceOf returns the marks of a fence at the beginning of a line, or an empty string.
func fenceOf(l string) string {
	l = strings.TrimSpace(l)
	for _, mark := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, mark)); n >= 3 {
			return l[:n]
		}
	}
	return ""
}
