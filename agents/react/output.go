package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// maxOutput is the largest output that is checked against a schema, in bytes.
const maxOutput = yamlsrc.MaxBytes

// maxBlocks is how many fenced blocks of an output are tried.
const maxBlocks = 8

// outputValue finds the value in an output that the contract's schema asks for:
// JSON or YAML, in a fence or bare, or the text itself. The problem says why there is none;
// both are empty where the contract has no schema.
func outputValue(c agentfile.Contract, text string) (value json.RawMessage, problem string) {
	if c.Output == nil {
		return nil, ""
	}
	if len(text) > maxOutput {
		return nil, fmt.Sprintf("the output has %d bytes; at most %d can be held against the schema", len(text), maxOutput)
	}
	blocks := fenced(text)
	for _, candidate := range append(blocks[:min(len(blocks), maxBlocks)], text) {
		found, ok := parse(candidate)
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

// parse reads a text as JSON, perhaps below comment lines, or else as a YAML
// mapping or list.
func parse(text string) (json.RawMessage, bool) {
	data := []byte(strings.TrimSpace(text))
	if bare := uncommented(data); json.Valid(bare) {
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

// uncommented returns a text without the comment lines before it.
func uncommented(data []byte) []byte {
	for bytes.HasPrefix(data, []byte("#")) {
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		data = bytes.TrimSpace(rest)
	}
	return data
}

// fenced returns the contents of the fenced blocks of a text.
func fenced(text string) []string {
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

// fenceOf returns the fence that a line opens or closes.
func fenceOf(l string) string {
	l = strings.TrimSpace(l)
	for _, mark := range []byte{'`', '~'} {
		n := 0
		for n < len(l) && l[n] == mark {
			n++
		}
		if n >= 3 {
			return l[:n]
		}
	}
	return ""
}
