package match_test

import (
	"context"
	"fmt"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/match"
)

func Example() {
	res, err := harness.Rehearse(context.Background(), harness.Rehearsal{
		Functions: map[string]app.Function{"desk": desk},
		Text: `
name: desk/order
drive: {function: {name: desk, turns: [I want my money back.]}}
backend:
  model: gpt-4.1-mini
  replies: [{text: "Which order? And when did you buy it?", latency: 2s}]
expect: {status: done}
`,
	})
	// In a test this is NewWithT(t), or nothing at all with Ginkgo.
	g := gomega.NewGomega(func(message string, _ ...int) { fmt.Println(message) })
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(res).To(match.EndedWith("done"))
	g.Expect(res).To(match.Calls(gomega.BeNumerically("<=", 3)))
	g.Expect(res).To(match.OneQuestionAtATime())
	// Output:
	// Expected at most one question in each answer, saw 2 questions in "Which order? And when did you buy it?".
	//
	// PASS desk/order: done, 1 call, 16 tokens, 0.0000184 USD, 2s
	//   user     "I want my money back."
	//   call 1   answer, 6 + 10 tokens, 2s: "Which order? And when did you buy it?"
	//   answer   "Which order? And when did you buy it?"
	//   end      done
}
