// Package schema holds the JSON Schemas of the project's file formats. They are
// generated from the Go types by the tests of package scenarios (make schema).
package schema

import "embed"

//go:embed *.json
var files embed.FS

// Kinds lists the file formats that have a schema: scenarios, the scripts that
// the mock server serves, the configuration file, the plans of supervised runs, the
// front matter of agent files, and experiments. The first is the default.
func Kinds() []string {
	return []string{"scenario", "script", "config", "plan", "agent", "experiment"}
}

// Of returns the JSON Schema (draft 2020-12) of a kind, or nil if it is not one
// of Kinds.
func Of(kind string) []byte {
	data, err := files.ReadFile(kind + ".json")
	if err != nil {
		return nil
	}
	return data
}
