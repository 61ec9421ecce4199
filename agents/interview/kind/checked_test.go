package kind

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

var _ = Describe("The memory of validated texts", func() {
	It("returns what the validators return, for each text and requirement", func() {
		var m memory
		wants := []validate.Expected{
			{Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: 1, Medium: session.Film},
			{Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: 1, Medium: session.Series},
			{Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: 2, Works: []string{"Dark", "Lost"}},
			{Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: 2, Works: []string{"Dark Lost"}},
		}
		texts := []string{"Which films do you love?", "Dark or Lost?", strings.Repeat("word ", maxCheckedText)}
		for range 2 {
			for _, want := range wants {
				for _, text := range texts {
					Expect(m.check(text, want)).To(Equal(validate.Check(text, want)))
				}
			}
		}
		Expect(m.results).To(HaveLen(8), "the longest text is not remembered")
	})
})
