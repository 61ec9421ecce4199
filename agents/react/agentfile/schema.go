package agentfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// resource is the URL of the schema while it is compiled. Nothing is read from it.
const resource = "contract:///schema"

// ErrNoMatch is the error for a value that does not match the schema of the contract.
var ErrNoMatch = errors.New("the value does not match the schema")

// CheckInput validates a task's inputs against InputSchema. The error wraps ErrNoMatch and
// has one line for each position. Without a schema everything is valid.
func (c Contract) CheckInput(inputs map[string]any) error {
	if c.InputSchema == nil {
		return nil
	}
	data, err := json.Marshal(inputs)
	if err != nil {
		return fmt.Errorf("check the inputs against the contract: %w", err)
	}
	return check(c.InputSchema, data)
}

// CheckOutput validates an output, as JSON, against Output. The error wraps ErrNoMatch and
// has one line for each position. Without a schema everything is valid.
func (c Contract) CheckOutput(output []byte) error {
	if c.Output == nil {
		return nil
	}
	return check(c.Output, output)
}

// maxValue is the largest size of a value that is validated, in bytes.
const maxValue = 1 << 20

func check(schema, data []byte) error {
	compiled, err := compile(schema)
	if err != nil {
		return fmt.Errorf("compile the contract's schema: %w", err)
	}
	if len(data) > maxValue {
		return fmt.Errorf("%w: it has %d bytes; at most %d are allowed", ErrNoMatch, len(data), maxValue)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%w: it is not JSON: %w", ErrNoMatch, err)
	}
	err = validate(compiled, value)
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return err
	}
	var lines []string
	for _, leaf := range leaves(invalid) {
		lines = append(lines, sanitize.Line(pointer(leaf.InstanceLocation), 200)+": "+reason(leaf))
	}
	slices.Sort(lines)
	return fmt.Errorf("%w:\n%s", ErrNoMatch, strings.Join(slices.Compact(lines), "\n"))
}

// maxSteps is the largest number of schemas in one validation. A schema that refers to itself twice
// could take forever.
const maxSteps = 100_000

var errSteps = fmt.Errorf("checking against the contract's schema takes more than %d steps; let it refer to itself less", maxSteps)

// steps counts the schemas of a validation. It is added to each schema as a keyword, because the library
// has neither a context nor a limit.
type steps struct{ taken *int }

// Validate implements jsonschema.SchemaExt.
func (s steps) Validate(*jsonschema.ValidatorContext, any) {
	if *s.taken++; *s.taken > maxSteps {
		panic(errSteps)
	}
}

func validate(schema *jsonschema.Schema, value any) (err error) {
	defer func() {
		if e := recover(); e != nil {
			if e != errSteps { //nolint:errorlint // compared with the recovered value itself
				panic(e)
			}
			err = errSteps
		}
	}()
	return schema.Validate(value)
}

// compile compiles a schema without reading anything else. The result is for one
// validation.
func compile(schema []byte) (*jsonschema.Schema, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	count := steps{new(int)}
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL: "contract:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return count, nil
		},
	})
	c.AssertVocabs()
	if err := c.AddResource(resource, value); err != nil {
		return nil, err
	}
	return c.Compile(resource)
}

// noLoader keeps schemas from reading files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is not part of the schema", url)
}

// schema validates and encodes the schema at path.
func (l *loader) schema(path string, value map[string]any) json.RawMessage {
	if value == nil {
		return nil
	}
	refs := references(path, value, nil)
	for _, r := range refs {
		if !r.draft && !strings.HasPrefix(r.to, "#") {
			l.wrong(r.path, fmt.Sprintf(
				"the schema refers to %q, and nothing outside it is read; refer to a place in it, such as #/$defs/name", clip(r.to)), "")
			return nil
		}
	}
	data, err := json.Marshal(value)
	if err != nil {
		l.wrong(path, "the schema cannot be written as JSON: "+err.Error(), "")
		return nil
	}
	if _, err := compile(data); err != nil {
		l.noSchema(path, refs, err)
		return nil
	}
	return data
}

// noSchema reports why a schema does not compile, with the position if it is known.
func (l *loader) noSchema(path string, refs []reference, err error) {
	if invalid, ok := errors.AsType[*jsonschema.SchemaValidationError](err); ok {
		if against, ok := errors.AsType[*jsonschema.ValidationError](invalid.Err); ok {
			last := "" // an alternative that fails has several reasons at one position
			for _, leaf := range leaves(against) {
				if place := below(path, leaf.InstanceLocation); place != last {
					l.wrong(place, "not a JSON Schema: "+reason(leaf), "")
					last = place
				}
			}
			return
		}
	}
	if draft, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		for _, r := range refs {
			if r.draft && r.to == draft.URL {
				l.wrong(r.path, fmt.Sprintf(
					"the schema names the draft %q, which is not known; leave $schema out, or use %s", clip(r.to), jsonschema.Draft2020), "")
				return
			}
		}
	}
	if missing, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		_, target, _ := strings.Cut(missing.URL, "#")
		for _, r := range refs {
			if r.to == "#"+target {
				l.wrong(r.path, fmt.Sprintf("the schema has no %q", clip(r.to)), "")
				return
			}
		}
	}
	l.wrong(path, "not a JSON Schema: "+strings.ReplaceAll(err.Error(), resource, ""), "")
}

// reference is a place in a schema that refers to another schema, or names the schema's
// draft.
type reference struct {
	path, to string
	draft    bool
}

// references returns all references of a schema, in the order of their keys.
func references(path string, value any, found []reference) []reference {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			to, isText := v[key].(string)
			switch key {
			case "$ref", "$dynamicRef", "$recursiveRef", "$schema":
				if isText {
					found = append(found, reference{yamlsrc.Join(path, key), to, key == "$schema"})
				}
			}
			found = references(yamlsrc.Join(path, key), v[key], found)
		}
	case []any:
		for i, item := range v {
			found = references(fmt.Sprintf("%s[%d]", path, i), item, found)
		}
	}
	return found
}

// leaves returns the innermost causes of an error, at most 20.
func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var all []*jsonschema.ValidationError
	for _, cause := range e.Causes {
		if all = append(all, leaves(cause)...); len(all) >= 20 {
			return all[:20]
		}
	}
	return all
}

// reason returns the message of a leaf without its position.
func reason(leaf *jsonschema.ValidationError) string {
	_, text, _ := strings.Cut(leaf.Error(), ": ")
	return sanitize.Line(text, 200)
}

func pointer(location []string) string {
	if len(location) == 0 {
		return "/"
	}
	return "/" + strings.Join(location, "/")
}

// below extends a path by the segments of a JSON pointer.
func below(path string, location []string) string {
	for _, segment := range location {
		path = yamlsrc.Join(path, segment)
	}
	return path
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
