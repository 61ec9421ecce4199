package plan_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// FuzzParse holds that any input is either a plan that can be carried out, or
// refused with places that exist in it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		whole, one("limits: {soft_calls: 9, hard_calls: 9}"), of("{id: a, do: x, after: [b]}", "{id: b, do: x, after: [a]}"),
		one("workers: {a.b: {loop: {timeout: 1s}}}"), one("checks: {todos: {file: ../x}, x: {}}"), "name: &a [*a]", "{{", "- a", "\xff",
		of("&t {id: a, do: x}", "{<<: *t, id: b, after: [a, a]}"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, found := plan.Parse("f", data)
		lines := 1 + strings.Count(string(data), "\n") + strings.Count(string(data), "\r") +
			strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029")
		for _, d := range found {
			if d.Line < 0 || d.Line > lines+1 || d.Message == "" {
				t.Errorf("%d lines, but %+v", lines, d)
			}
		}
		if len(found) > 0 {
			return
		}
		if !possible(p.Tasks) {
			t.Errorf("these tasks cannot be done in any order: %+v", p.Tasks)
		}
		if l := p.Limits.WithDefaults(); l.SoftCalls >= l.HardCalls || l.SoftCalls < 1 {
			t.Errorf("limits %+v", l)
		}
		for _, task := range p.Tasks {
			if _, ok := p.Worker(task.Worker()); !ok {
				t.Errorf("nobody does %+v", task)
			}
		}
	})
}

// possible reports whether the tasks can be done, by doing them: whichever has
// nothing left to wait for.
func possible(tasks []plan.Task) bool {
	done := make(map[string]bool, len(tasks))
	for range tasks {
		before := len(done)
		for _, t := range tasks {
			ready := true
			for _, id := range t.After {
				ready = ready && done[id]
			}
			if ready {
				done[t.ID] = true
			}
		}
		if len(done) == before {
			break
		}
	}
	return len(done) == len(tasks)
}
