package scenarios_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("Scenario.Where", func() {
	It("returns the lines of a file's expectations", func() {
		sc, found := scenarios.Parse("own.yaml", []byte(`# a comment
name: own
drive:
  loop: {prompt: Go.}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: more}
    - text: DONE
expect:
  status: done
  calls: 2
  latency: {p95: 5s}
  that: ["true", "calls.total == 2"]
`), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(sc.Where).To(Equal(map[string]int{
			"name": 2, "drive": 3, "drive.loop": 4, "backend.replies": 7, "backend.replies[0]": 8, "backend.replies[1]": 9,
			"expect": 10, "expect.status": 11, "expect.calls": 12, "expect.latency": 13, "expect.latency.p95": 13,
			"expect.that": 14, "expect.that[0]": 14, "expect.that[1]": 14,
		}))
	})

	It("has the lines of a simulated user, its goals and its model", func() {
		sc, found := scenarios.Parse("own.yaml", []byte(`name: own
drive:
  command:
    run: [sh]
    user:
      opening: Hi.
      goals: [{id: a, done: {reply: x}}]
      backend:
        model: gpt-4.1-mini
        rules:
          - {text: a}
backend: {model: gpt-4.1-mini, rules: [{text: x}]}
expect: {status: done}
`), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(sc.Where).To(HaveKeyWithValue("drive.command.user", 5))
		Expect(sc.Where).To(HaveKeyWithValue("drive.command.user.goals[0]", 7))
		Expect(sc.Where).To(HaveKeyWithValue("drive.command.user.backend.rules[0]", 11))
	})

	It("is empty for shipped ones, which are not files on disk", func() {
		set, found := scenarios.Load([]string{"loop/golden-marker"}, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(set).To(HaveExactElements(HaveField("Where", BeEmpty())))
	})
})
