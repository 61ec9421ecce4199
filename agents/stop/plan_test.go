package stop_test

import (
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// step takes n minutes.
func step(id string, n int, dependsOn ...string) stop.Step {
	return stop.Step{ID: id, Estimate: time.Duration(n) * time.Minute, DependsOn: dependsOn}
}

func ids(steps []stop.Step) []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.ID)
	}
	return out
}

var _ = Describe("NewPlan", func() {
	It("keeps the message's order where nothing forbids it", func() {
		plan := stop.NewPlan([]stop.Step{step("a", 1), step("b", 2, "a"), step("c", 4)})
		Expect(ids(plan.Order)).To(Equal([]string{"a", "b", "c"}))
		Expect(plan.Groups).To(Equal([][]string{{"a", "c"}, {"b"}}))
		Expect(plan.Estimate).To(Equal(7 * time.Minute))
		Expect(plan.Critical).To(Equal(4*time.Minute), "c alone takes longer than a and b")
	})

	It("puts a step after those that it depends on", func() {
		plan := stop.NewPlan([]stop.Step{step("deploy", 3, "test", "build"), step("test", 2, "build"), step("build", 1)})
		Expect(ids(plan.Order)).To(Equal([]string{"build", "test", "deploy"}))
		Expect(plan.Critical).To(Equal(6 * time.Minute))
	})

	DescribeTable("does with odd input what it says",
		func(steps []stop.Step, want ...string) {
			Expect(ids(stop.NewPlan(steps).Order)).To(HaveExactElements(want))
		},
		Entry("nothing", nil),
		Entry("one id twice", []stop.Step{step("a", 1), step("a", 2), step("b", 1)}, "a", "b"),
		Entry("an unknown dependency", []stop.Step{step("a", 1, "gone")}, "a"),
		Entry("a step that waits for itself", []stop.Step{step("a", 1, "a")}, "a"),
		Entry("a circle", []stop.Step{step("a", 1, "b"), step("b", 1, "a"), step("c", 1)}, "b", "a", "c"),
	)

	It("lets one of a circle not wait", func() {
		plan := stop.NewPlan([]stop.Step{step("a", 1, "b"), step("b", 1, "a"), step("c", 1)})
		Expect(plan.Groups).To(Equal([][]string{{"b", "c"}, {"a"}}))
	})

	It("keeps every step once, each after its dependencies, in groups that agree", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			n := rapid.IntRange(0, 12).Draw(t, "n")
			var steps []stop.Step
			for _, i := range rapid.Permutation(upTo(n)).Draw(t, "order") {
				// A dependency has a smaller number, so there is no circle.
				var needs []string
				for j := range i {
					if rapid.Bool().Draw(t, "needs") {
						needs = append(needs, strconv.Itoa(j))
					}
				}
				steps = append(steps, step(strconv.Itoa(i), rapid.IntRange(0, 9).Draw(t, "minutes"), needs...))
			}
			plan := stop.NewPlan(steps)
			if len(plan.Order) != n || len(slices.Concat(plan.Groups...)) != n {
				t.Fatalf("%d steps became %v in groups %v", n, ids(plan.Order), plan.Groups)
			}
			group := map[string]int{}
			for i, g := range plan.Groups {
				for _, id := range g {
					group[id] = i
				}
			}
			placed := map[string]bool{}
			var total time.Duration
			for _, s := range plan.Order {
				for _, id := range s.DependsOn {
					if !placed[id] || group[id] >= group[s.ID] {
						t.Fatalf("%s stands before %s in %v, groups %v", s.ID, id, ids(plan.Order), plan.Groups)
					}
				}
				placed[s.ID] = true
				total += s.Estimate
			}
			if plan.Estimate != total || plan.Critical > total {
				t.Fatalf("estimate %s, critical %s, sum %s", plan.Estimate, plan.Critical, total)
			}
		})
	})
})

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
