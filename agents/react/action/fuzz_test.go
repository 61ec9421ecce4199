package action_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// FuzzDo: whatever an agent writes, an action comes to a bounded, valid text, says
// by which rule it failed, and leaves what is outside of the workspace alone.
func FuzzDo(f *testing.F) {
	for _, seed := range [][2]string{
		{"analyze", "target: full\nfocus: security_patterns"},
		{"analyze", "target: a.md\nfocus: lines 1-2"},
		{"search", "query: a|(b\nscope: '**/*.md'"},
		{"generate", "type: json\nspec: {a: [1.5, x]}\npath: x/y.json"},
		{"generate", "type: text\npath: ../outside.txt\nspec: |\n  x\n"},
		{"validate", "assertion: 'value: a[0].b >= 1e3'\ndata: d.json"},
		{"validate", "assertion: 'count: ^. == 1'\ndata: 'text: x'"},
		{"transform", "input: t.csv\nfrom: csv\nto: markdown"},
		{"transform", "input: '[{\"a\": 1}]'\nfrom: json\nto: yaml\noutput: out.yaml"},
		{"compare", "a: a.md\nb: t.csv\ncriteria: keys"},
		{"own", "file: link/outside.txt"},
		{"escalate", ""},
		{"analyse", "? [x]"},
	} {
		f.Add(seed[0], seed[1])
	}
	outer := f.TempDir()
	inner := filepath.Join(outer, "workspace")
	files := map[string]string{"a.md": "# A\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "d.json": `{"a": [{"b": 1000}]}`, "t.csv": "a,b\n1,2\n"}
	if err := os.MkdirAll(inner, 0o755); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(inner, "link")); err != nil {
		f.Skip(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(inner, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	set, err := action.New(&agentfile.Agent{Actions: []agentfile.Action{{
		ID: "own", Command: []string{"no-such-program", "{file}"}, Inputs: []agentfile.Input{{Name: "file"}}, Timeout: quantity.Duration(time.Minute),
	}}}, action.Options{Workspace: inner})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, input string) {
		r, err := set.Do(context.Background(), id, input)
		switch {
		case err != nil:
			t.Fatal(err)
		case len(r.Observation) > 9<<10 || !utf8.ValidString(r.Observation) || strings.ContainsAny(r.Observation, "\x00\x1b\r"):
			t.Fatalf("%d bytes: %q", len(r.Observation), r.Observation)
		case r.Failed != (r.Rule != "") || r.Failed != strings.HasPrefix(r.Observation, r.Rule+": ") && r.Rule != "":
			t.Fatalf("%+v", r)
		case id == "own" && !r.Failed:
			t.Fatal("there is no such program")
		}
		for _, name := range append(r.Read, r.Written...) {
			if !filepath.IsLocal(name) {
				t.Fatalf("it says that it used %s", name)
			}
		}
		entries, err := os.ReadDir(outer)
		if err != nil || len(entries) != 1 {
			t.Fatalf("outside there are %v, %v", entries, err)
		}
	})
}
