package plan

import "github.com/invopop/jsonschema"

// JSONSchemaExtend names the checks that there are, and demands a task, which no
// tag of a list whose schema stands elsewhere can.
func (Plan) JSONSchemaExtend(s *jsonschema.Schema) {
	if tasks, ok := s.Properties.Get("tasks"); ok {
		one := uint64(1)
		tasks.MinItems = &one
	}
	names := checkNames()
	known := make([]any, len(names))
	for i, name := range names {
		known[i] = name
	}
	if checks, ok := s.Properties.Get("checks"); ok {
		checks.PropertyNames = &jsonschema.Schema{Enum: known}
	}
}

// JSONSchemaExtend demands exactly one kind of worker.
func (Worker) JSONSchemaExtend(s *jsonschema.Schema) { s.OneOf = oneOf("loop", "react", "command") }

// JSONSchemaExtend demands exactly one kind of probe.
func (Probe) JSONSchemaExtend(s *jsonschema.Schema) {
	s.OneOf = oneOf("command", "file", "markers", "none")
}

// oneOf are schemas of which exactly one fits if exactly one of the keys is given.
func oneOf(keys ...string) []*jsonschema.Schema {
	schemas := make([]*jsonschema.Schema, len(keys))
	for i, key := range keys {
		schemas[i] = &jsonschema.Schema{Required: []string{key}}
	}
	return schemas
}
