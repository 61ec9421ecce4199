package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// schemaTypes are the types of JSON Schema.
var schemaTypes = []string{"string", "integer", "number", "boolean", "object", "array", "null"}

// The keywords of JSON Schema with one schema, a list of schemas and schemas by name, and the others, with those of
// OpenAPI that are similar to one.
var (
	oneSchema = []string{
		"items", "additionalItems", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties", "not",
		"if", "then", "else", "contentSchema",
	}
	schemaLists   = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	schemasByName = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
	otherKeywords = []string{
		"type", "enum", "const", "required", "dependentRequired", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "minContains",
		"maxContains", "minProperties", "maxProperties", "title", "description", "default", "deprecated", "readOnly", "writeOnly",
		"examples", "example", "contentEncoding", "contentMediaType", "$id", "id", "$schema", "$ref", "$comment", "$anchor",
		"$dynamicAnchor", "$dynamicRef", "$vocabulary",
	}
	keywords = slices.Concat(otherKeywords, oneSchema, schemaLists, schemasByName)
)

// keywords reports types that do not exist, and keywords that look like a misspelled one, in a schema and those in it. A
// validator would reject or ignore them in silence. Unknown keywords are allowed otherwise.
func (v *validator) keywords(path string, schema any) {
	s, _ := schema.(map[string]any) // other forms are booleans, or reported elsewhere
	for _, name := range slices.Sorted(maps.Keys(s)) {
		at, value := yamlsrc.Join(path, name), s[name]
		list, _ := value.([]any)
		byName, _ := value.(map[string]any)
		if name == "type" {
			v.schemaType(at, value)
		}
		if !slices.Contains(keywords, name) && !strings.HasPrefix(name, "x-") {
			if near := suggest.Nearest(name, keywords); near != "" {
				v.problems = append(v.problems, mocks.Problem{
					Path: at, Message: fmt.Sprintf("%q is not a keyword of JSON Schema, and would be ignored", name), Nearest: near,
				})
			}
		}
		if slices.Contains(oneSchema, name) {
			v.keywords(at, value)
		}
		if slices.Contains(schemaLists, name) {
			for i := range list {
				v.keywords(fmt.Sprintf("%s[%d]", at, i), list[i])
			}
		}
		if slices.Contains(schemasByName, name) {
			for _, key := range slices.Sorted(maps.Keys(byName)) {
				v.keywords(yamlsrc.Join(at, key), byName[key])
			}
		}
	}
}

// schemaType checks the value of the keyword type: a type, or a list of types.
func (v *validator) schemaType(path string, value any) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, t := range list {
		if name, ok := t.(string); !ok || !slices.Contains(schemaTypes, name) {
			v.problems = append(v.problems, mocks.Problem{
				Path: path, Message: fmt.Sprintf("%v is not a type of JSON Schema; there are %s", t, strings.Join(schemaTypes, ", ")),
				Nearest: suggest.Nearest(name, schemaTypes),
			})
		}
	}
}
