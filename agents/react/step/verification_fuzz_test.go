package step_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// FuzzRead holds that any text is read or refused with a place that exists in it, that a
// part is answered once, and that the judgement never lets pass what is denied.
func FuzzReadVerification(f *testing.F) {
	for _, seed := range []string{
		"verification:\n  completeness: ✓ a\n  correctness: [x] b: c\n", "verification:\n  constraints:\n    question: a\n    check: [a, {b: c}]\n    passed: true\n",
		"verification: {correctness: ok}", "verification:\n  - a\n", "verification:\n  exactitude:\n  - [ ] é: 'x'\n", "verification:\n\tcorrectness: ✓\n",
		"verification:\n  correctness: &a\n    - *a\n", "verification:\n  consistency: ✓ a.go b/c.py x.js(\n",
	} {
		f.Add(seed)
	}
	c := step.Requirements{Inputs: []string{"a_b", ""}, Constraints: []string{"at most 3 c", "."}, Context: []string{"a.go", ""}}
	f.Fuzz(func(t *testing.T, text string) {
		found, err := step.ReadVerification(text)
		if err != nil {
			e, ok := errors.AsType[*step.Error](err)
			if !ok || e.Rule == "" || e.Message == "" || e.Line < 1 || e.Column < 1 || e.Line > strings.Count(text, "\n")+strings.Count(text, "\r")+3 {
				t.Fatalf("%#v", err)
			}
			return
		}
		seen := map[step.Part]bool{}
		for _, a := range found {
			if seen[a.Part] {
				t.Errorf("%s twice", a.Part)
			}
			seen[a.Part] = true
			if a.Form != "schema" && a.Form != "tick" || a.Pos.Line < 1 {
				t.Errorf("%+v", a)
			}
		}
		r := step.JudgeVerification(found, c)
		for _, a := range found {
			if !a.Passed && r.Holds(a.Part) {
				t.Errorf("%+v holds", a)
			}
		}
		for _, p := range parts {
			if !seen[p] && r.Holds(p) {
				t.Errorf("%s holds and was not answered", p)
			}
		}
	})
}

// TestMoreRequired holds that a contract that requires more never lets more pass, and that a
// verification that quotes the contract passes.
func TestMoreRequired(t *testing.T) {
	word := rapid.StringMatching(`[a-zé]{2,9}( [a-z]{2,9}){0,4}`)
	rapid.Check(t, func(t *rapid.T) {
		inputs := rapid.SliceOfN(word, 1, 4).Draw(t, "inputs")
		rules := rapid.SliceOfN(word, 1, 4).Draw(t, "constraints")
		list := func(items []string) string { return "[\"as to " + strings.Join(items, "\", \"as to ") + "\"]" }
		text := "verification:\n  completeness: {check: " + list(inputs) + "}\n  constraints: {check: " + list(rules) + "}\n" +
			"  correctness: ✓\n  consistency: ✓\n"
		found, err := step.ReadVerification(text)
		if err != nil {
			t.Fatal(err)
		}
		c := step.Requirements{Inputs: inputs, Constraints: rules}
		if r := step.JudgeVerification(found, c); !r.Passed() {
			t.Fatalf("%v", r.Findings)
		}
		c.Inputs = append(c.Inputs, word.Draw(t, "another"))
		c.Constraints = append(c.Constraints, "zzzzzzzzzz")
		r := step.JudgeVerification(found, c)
		if r.Holds(step.Constraints) {
			t.Fatal("a constraint holds that no check names")
		}
		if !r.Holds(step.Completeness) && len(r.Findings) != 2 {
			t.Fatalf("%v", r.Findings)
		}
	})
}
