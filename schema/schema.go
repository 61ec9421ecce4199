// Package schema embeds the JSON Schemas of the project's file formats. They are generated from the
// Go types by the tests of package scenarios (make schema).
package schema

import "embed"

//go:embed *.json
var files embed.FS

// Kinds returns the file formats with a schema: scenarios, the scripts of the mock server, the
// configuration file, the plans of supervised runs, the front matter of agent files,
// experiments, and lines of recordings. The first is the default.
func Kinds() []string {
	return []string{"scenario", "script", "config", "plan", "agent", "experiment", "recording"}
}

// Of returns the JSON Schema (draft 2020-12) of a kind, or nil for an unknown kind.
func Of(kind string) []byte {
	data, err := files.ReadFile(kind + ".json")
	if err != nil {
		return nil
	}
	return data
}
