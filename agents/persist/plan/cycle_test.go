package plan_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

var _ = Describe("cycles of dependencies", func() {
	It("are found if there are any, each once, and without them the tasks can be done", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := plan.Plan{Name: "p"}
			n := rapid.IntRange(1, 8).Draw(t, "tasks")
			for i := range n {
				after := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, n, rapid.ID[int]).Draw(t, "after")
				task := plan.Task{ID: fmt.Sprintf("t%d", i), Do: "x"}
				for _, j := range after {
					task.After = append(task.After, fmt.Sprintf("t%d", j))
				}
				p.Tasks = append(p.Tasks, task)
			}
			problems := p.Problems()
			if (len(problems) == 0) != possible(p.Tasks) {
				t.Fatalf("%v for %+v", problems, p.Tasks)
			}
			seen := make(map[string]bool)
			for _, problem := range problems {
				names := cycle(problem.Message)
				if seen[key(names)] {
					t.Fatalf("%v is named twice", names)
				}
				seen[key(names)] = true
				for i := 1; i < len(names); i++ {
					if !slices.Contains(task(p, names[i-1]).After, names[i]) {
						t.Fatalf("%s does not wait for %s", names[i-1], names[i])
					}
				}
				var at, j int
				if _, err := fmt.Sscanf(problem.Path, "tasks[%d].after[%d]", &at, &j); err != nil {
					t.Fatal(err)
				}
				p.Tasks[at].After[j] = "" // leave it out, and keep the others' places
			}
			for i := range p.Tasks {
				p.Tasks[i].After = slices.DeleteFunc(p.Tasks[i].After, func(id string) bool { return id == "" })
			}
			if !possible(p.Tasks) {
				t.Fatalf("there are more than %v", problems)
			}
		})
	})

	It("may be as long as the plan", func() {
		p := plan.Plan{Name: "p"}
		for i := range maxTasks {
			p.Tasks = append(p.Tasks, plan.Task{ID: fmt.Sprintf("t%d", i), Do: "x", After: []string{fmt.Sprintf("t%d", (i+1)%maxTasks)}})
		}
		Expect(p.Problems()).To(HaveLen(1))
	})

	It("are a hundred at most, however many there are", func() {
		p := plan.Plan{Name: "p"}
		for i := range 1000 {
			p.Tasks = append(p.Tasks, plan.Task{ID: fmt.Sprintf("t%d", i), Do: "x", After: []string{fmt.Sprintf("t%d", i)}})
		}
		Expect(p.Problems()).To(HaveLen(100))
	})
})

// cycle returns the names of a message about a cycle.
func cycle(message string) []string {
	_, rest, _ := strings.Cut(message, ": ")
	rest, _, _ = strings.Cut(rest, ";")
	return strings.Split(rest, " → ")
}

// key returns the same for a cycle wherever one begins to go round it.
func key(names []string) string {
	round := names[1:]
	best := ""
	for i := range round {
		turned := strings.Join(slices.Concat(round[i:], round[:i]), " ")
		if best == "" || turned < best {
			best = turned
		}
	}
	return best
}

func task(p plan.Plan, id string) plan.Task {
	return p.Tasks[slices.IndexFunc(p.Tasks, func(t plan.Task) bool { return t.ID == id })]
}
