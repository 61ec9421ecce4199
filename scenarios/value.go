package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// ParseValue validates a scenario that is a Go value by the checks of files: it parses the file with
// these values. It returns the scenario with the defaults and texts that Parse adds, and with a
// digest. name stands for the file in diagnostics, which name the field in place of a line.
func ParseValue(name string, value Scenario, fsys fs.FS, opts Options) (Scenario, Diagnostics) {
	if d, bad := notUTF8(value); bad {
		d.File = name
		return value, Diagnostics{d}
	}
	data, err := yaml.Dump(value)
	if err != nil {
		return value, Diagnostics{{File: name, Message: "cannot be written as a scenario file: " + err.Error()}}
	}
	sc, found := Parse(name, data, fsys, opts)
	sc.File, sc.Where = "", nil
	for i, d := range found {
		if d.Path != "" {
			d.Message = d.Path + ": " + d.Message
		}
		found[i] = yamlsrc.Diagnostic{File: name, Path: d.Path, Message: d.Message, Expected: d.Expected, Nearest: d.Nearest}
	}
	return sc, found
}

// notUTF8 finds a text that is not UTF-8, which YAML would encode as binary data.
func notUTF8(value Scenario) (yamlsrc.Diagnostic, bool) {
	for _, part := range []struct {
		path  string
		value any
	}{{"", value}, {"drive." + value.Drive.Kind, value.Drive.Options}} {
		_, err := json.Marshal(part.value, json.Deterministic(true))
		if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			path := part.path
			for token := range e.JSONPointer.Tokens() {
				if _, err := strconv.Atoi(token); err == nil {
					path += "[" + token + "]"
				} else {
					path = yamlsrc.Join(path, token)
				}
			}
			return yamlsrc.Diagnostic{Path: path, Message: fmt.Sprintf("%s: %v", path, e.Err)}, true
		}
	}
	return yamlsrc.Diagnostic{}, false
}

// MarshalYAML returns the mapping under drive.
func (d Drive) MarshalYAML() (any, error) {
	if d.Kind == "" && d.Options != nil {
		return nil, errors.New("drive: Options are given without a Kind")
	}
	if d.Kind == "" {
		return struct{}{}, nil
	}
	return map[string]any{d.Kind: d.Options}, nil
}
