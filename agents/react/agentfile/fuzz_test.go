package agentfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// FuzzLoad: whatever the file, there is either an agent that can be worked with or
// diagnostics with places in the file.
func FuzzLoad(f *testing.F) {
	f.Add(whole)
	f.Add(strings.ReplaceAll(whole, "\n", "\r\n"))
	f.Add("---\nid: x\ncontract: {output: {$ref: \"#\"}}\n---\n## REACT_CYCLE\n### Actions spécifiques\n- `a`\n> - `b`\n")
	f.Add("---\nid: x\ncontract: {output: {pattern: \"(\", items: {$ref: \"#/a~1b\"}}}\n---\n-\n-\n  -\n## REACT_CYCLE\n###\n-\n")
	f.Add("---\n? [a]\n: b\n---\n#\n\n===\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := agentfile.Load("f", []byte(text))
		if err == nil {
			checkAgent(t, a)
			return
		}
		found, ok := errors.AsType[yamlsrc.Diagnostics](err)
		if !ok || len(found) == 0 || a != nil {
			t.Fatalf("agent %v with error %v", a, err)
		}
		lines := strings.Count(text, "\n") + 1
		for _, d := range found {
			// YAML counts other characters as ends of lines, too.
			others := strings.Count(text, "\r") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
			if d.Line < 0 || d.Line > lines+others+1 || d.Message == "" {
				t.Fatalf("%d lines, and a diagnostic on line %d: %s", lines, d.Line, d.Message)
			}
		}
	})
}

func checkAgent(t *testing.T, a *agentfile.Agent) {
	t.Helper()
	if !agentfile.IsName(a.ID) || a.MaxIterations < 1 || a.MaxIterations > 100 {
		t.Fatalf("%+v", a)
	}
	for _, act := range a.Actions {
		if !agentfile.IsName(act.ID) || len(act.Command) == 0 || act.Timeout <= 0 {
			t.Fatalf("%+v", act)
		}
	}
	_ = a.Contract.CheckInput(map[string]any{"a": 1})
	if err := a.Contract.CheckOutput([]byte(`{"a": [1, "b", null]}`)); err != nil && strings.Contains(err.Error(), "compile") {
		t.Fatal(err) // it was compiled when it was loaded
	}
}
