package plan

import "github.com/invopop/jsonschema"

// JSONSchemaExtend lists the names of the checks and requires a task, which a tag cannot do for
// a list with a schema of its own.
func (Plan) JSONSchemaExtend(s *jsonschema.Schema) {
	if tasks, ok := s.Properties.Get("tasks"); ok {
		one := uint64(1)
		tasks.MinItems = &one
	}
	names := CheckNames()
	known := make([]any, len(names))
	for i, name := range names {
		known[i] = name
	}
	if checks, ok := s.Properties.Get("checks"); ok {
		checks.PropertyNames = &jsonschema.Schema{Enum: known}
	}
}

// JSONSchemaExtend requires exactly one kind of worker.
func (Worker) JSONSchemaExtend(s *jsonschema.Schema) { s.OneOf = oneOf("loop", "react", "command") }

// JSONSchemaExtend requires exactly one kind of probe.
func (Probe) JSONSchemaExtend(s *jsonschema.Schema) {
	s.OneOf = oneOf("command", "file", "markers", "none")
}

// oneOf returns schemas of which exactly one matches if exactly one of the keys is given.
func oneOf(keys ...string) []*jsonschema.Schema {
	schemas := make([]*jsonschema.Schema, len(keys))
	for i, key := range keys {
		schemas[i] = &jsonschema.Schema{Required: []string{key}}
	}
	return schemas
}
