package step_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

var _ = Describe("Parse", func() {
	It("reads a step", func() {
		found, err := step.Parse("thought: |\n  Look first.\naction: search\naction_input:\n  query: x\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(Equal([]step.Document{{
			Kind: step.Act, Pos: step.Pos{Line: 1, Column: 1},
			Thought: "Look first.", Action: "search", Input: "query: x", InputPos: step.Pos{Line: 5, Column: 3},
		}}))
	})
})
