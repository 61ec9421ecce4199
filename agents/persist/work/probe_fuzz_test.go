package work_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// FuzzTodos holds that any file is read to a verdict, the same each time, and
// that a failure names what is open.
func FuzzTodos(f *testing.F) {
	for _, seed := range []string{
		"- [x] a\n- [ ] b\n  1. [~] c\n", "> - [ ] a\n```\n- [ ] b\n```\n<!-- - [ ] c -->", "- [ ]", "* * *\n- \n+ [x]\n",
		`[{"content": "a", "status": "pending"}]`, `{"todos": [{"id": {}, "status": "done"}]}`, "[[[[", "\xff\x00",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, markdown bool) {
		name := "todos.json"
		if markdown {
			name = "todos.md"
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := newProbe(plan.Probe{File: name}, dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := p(t.Context())
		if again := p(t.Context()); again.Verdict != r.Verdict || again.Details != r.Details || len(again.Items) != len(r.Items) {
			t.Errorf("%+v, and then %+v", r, again)
		}
		if (r.Verdict == plan.Fail) != (len(r.Items) > 0) || len(r.Items) > plan.MaxFindings {
			t.Errorf("%+v", r)
		}
		for _, item := range append(r.Items, r.Details) {
			for _, c := range item {
				if c < ' ' || c == 0x7f {
					t.Errorf("a control character in %q", item)
				}
			}
		}
	})
}
