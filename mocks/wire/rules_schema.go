package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strictSchema has the fields of a function or a format that demands that its schema is followed, see
// https://platform.openai.com/docs/guides/structured-outputs#supported-schemas.
type strictSchema struct {
	Name   string `json:"name"`
	Strict bool   `json:"strict"`
}

func (s *strictSchema) checkFunction(param string, schema jsontext.Value) *APIError {
	if !s.Strict || !given(schema) {
		return nil
	}
	if problem := schemaProblem(schema, nil, looseObject); problem != "" {
		return bad(param, "invalid_function_parameters", "Invalid schema for function '%.64s': %s", s.Name, problem)
	}
	return nil
}

// strictFormat is the format of an answer that follows a schema.
type strictFormat struct {
	strictSchema
	Schema jsontext.Value `json:"schema"`
}

func (f *strictFormat) check(param, schemaParam string) *APIError {
	switch {
	case !f.Strict:
		return nil
	case !given(f.Schema):
		return missing(schemaParam)
	}
	if problem := schemaProblem(f.Schema, nil, looseObject); problem != "" {
		return bad(param, "", "Invalid schema for response_format '%.64s': %s", f.Name, problem)
	}
	return nil
}

// maxSchemaDepth is the provider's limit of nesting, with one level each for names such as "properties".
const maxSchemaDepth = 2 * 10

// schemaNode is a schema, as far as rules are concerned.
type schemaNode struct {
	Type                 textOrList[string]        `json:"type"`
	Properties           map[string]jsontext.Value `json:"properties"`
	Required             []string                  `json:"required"`
	AdditionalProperties jsontext.Value            `json:"additionalProperties"`
	Items                jsontext.Value            `json:"items"`
	AnyOf                []jsontext.Value          `json:"anyOf"`
	Defs                 map[string]jsontext.Value `json:"$defs"`
}

// looseObject returns what OpenAI objects to in an object of a strict schema, or "".
func looseObject(s *schemaNode, at []string) string {
	if s.AdditionalProperties.Kind() != jsontext.KindFalse {
		return fmt.Sprintf("In context=%s, 'additionalProperties' is required to be supplied and to be false.", schemaContext(at))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !slices.Contains(s.Required, name) {
			return fmt.Sprintf("In context=%s, 'required' is required to be supplied and to be an array including every key in properties. "+
				"Missing '%.64s'.", schemaContext(at), name)
		}
	}
	return ""
}

// schemaProblem returns the first problem that check finds in the objects of a schema at this place, or "".
func schemaProblem(schema jsontext.Value, at []string, check func(*schemaNode, []string) string) string {
	var s schemaNode
	if len(at) > maxSchemaDepth || schema.Kind() != '{' || jsonv2.Unmarshal(schema, &s) != nil {
		return ""
	}
	if s.Type.text == "object" || slices.Contains(s.Type.list, "object") {
		if problem := check(&s, at); problem != "" {
			return problem
		}
	}
	below := func(schema jsontext.Value, path ...string) string {
		return schemaProblem(schema, append(slices.Clip(at), path...), check)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if problem := below(s.Properties[name], "properties", name); problem != "" {
			return problem
		}
	}
	if problem := below(s.Items, "items"); problem != "" {
		return problem
	}
	for i, branch := range s.AnyOf {
		if problem := below(branch, "anyOf", fmt.Sprint(i)); problem != "" {
			return problem
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Defs)) {
		if problem := below(s.Defs[name], "$defs", name); problem != "" {
			return problem
		}
	}
	return ""
}

// schemaContext writes a place as the provider does, as a tuple of Python.
func schemaContext(at []string) string {
	switch len(at) {
	case 0:
		return "()"
	case 1:
		return fmt.Sprintf("('%.64s',)", at[0])
	}
	return fmt.Sprintf("('%.500s')", strings.Join(at, "', '"))
}
