package mocks

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// plainToolCall has no methods, to decode and encode without recursion.
type plainToolCall ScriptedToolCall

// UnmarshalYAML reads a mapping. Numbers in the arguments keep the digits of the file, if need be as json.Number:
// 1.0, and those with more digits than a float64 has.
func (c *ScriptedToolCall) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return errors.New("a tool call is a mapping with the name of the tool and its arguments")
	}
	if err := node.Load((*plainToolCall)(c), yaml.WithKnownFields()); err != nil {
		return err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "arguments" {
			readNumbers(c.Arguments, node.Content[i+1])
		}
	}
	return nil
}

// readNumbers returns a decoded value with the numbers of its node. Those of merged mappings stay as they are.
func readNumbers(v any, node *yaml.Node) any {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch v := v.(type) {
	case map[string]any:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i].Value; v[key] != nil {
				v[key] = readNumbers(v[key], node.Content[i+1])
			}
		}
	case []any:
		for i := range min(len(v), len(node.Content)) {
			v[i] = readNumbers(v[i], node.Content[i])
		}
	case int, int64, uint64, float64, string: // a number like 1e999 is a text to YAML
		if node.Style == 0 { // without quotes
			return Number(node.Value, v)
		}
	}
	return v
}

// Number returns a number of JSON by its text: an int or a float64 if JSON writes that with the same text, else a
// json.Number. A text that is not a number of JSON, such as YAML's 0x10, yields the other value.
func Number(text string, other any) any {
	if n, err := strconv.Atoi(text); err == nil && strconv.Itoa(n) == text {
		return n
	}
	if !json.Valid([]byte(text)) || !strings.ContainsAny(text[:1], "-0123456789") {
		return other
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite if out of range
	if written, err := json.Marshal(f); err == nil && string(written) == text {
		return f
	}
	return json.Number(text)
}

// MarshalYAML writes the mapping, with json.Number as numbers.
func (c ScriptedToolCall) MarshalYAML() (any, error) {
	if c.Arguments != nil {
		c.Arguments = writeNumbers(c.Arguments).(map[string]any)
	}
	return plainToolCall(c), nil
}

// writeNumbers returns a copy of a value with YAML's nodes for fractions as JSON writes them: YAML would write 1e-7 as 1e-07, and a
// json.Number as a text.
func writeNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		written := make(map[string]any, len(v))
		for key, item := range v {
			written[key] = writeNumbers(item)
		}
		return written
	case []any:
		written := make([]any, len(v))
		for i, item := range v {
			written[i] = writeNumbers(item)
		}
		return written
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}
	case float64:
		if text, err := json.Marshal(v); err == nil { // not infinite
			return &yaml.Node{Kind: yaml.ScalarNode, Value: string(text)}
		}
	}
	return v
}
