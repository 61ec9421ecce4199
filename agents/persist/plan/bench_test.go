package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// chain returns a plan of n tasks, each after the one before it.
func chain(n int) []byte {
	var b strings.Builder
	b.WriteString("name: p\ntasks:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - id: task-%d\n    do: Do the thing number %d.\n", i, i)
		if i > 0 {
			fmt.Fprintf(&b, "    after: [task-%d]\n", i-1)
		}
	}
	return []byte(b.String())
}

// BenchmarkParse stands beside the YAML library alone, and shows that the time is
// linear in the number of tasks.
func BenchmarkParse(b *testing.B) {
	for _, n := range []int{100, 1000, maxTasks} {
		text := chain(n)
		b.Run(fmt.Sprintf("tasks=%d/plan", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if p, found := plan.Parse("p", text); len(found) > 0 || len(p.Tasks) != n {
					b.Fatal(found)
				}
			}
		})
		b.Run(fmt.Sprintf("tasks=%d/floor", n), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				var p plan.Plan
				if err := yaml.Load(text, &p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProblems measures the validation of a plan in the worst case: every task is invalid.
func BenchmarkProblems(b *testing.B) {
	for _, n := range []int{1000, maxTasks} {
		p := plan.Plan{Name: "p", Tasks: make([]plan.Task, n)}
		for i := range p.Tasks {
			p.Tasks[i] = plan.Task{ID: fmt.Sprintf("task-%d", i), Do: "x", After: []string{fmt.Sprintf("tsak-%d", i)}, By: fmt.Sprintf("worker-%d", i)}
		}
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			for b.Loop() {
				if len(p.Problems()) == 0 {
					b.Fatal("nothing was found")
				}
			}
		})
	}
}
