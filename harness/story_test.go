package harness_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
)

var _ = Describe("the description of a trial", func() {
	It("has a limited length", func() {
		turns := strings.Repeat("Go on., ", 199) + "Stop."
		text := fmt.Sprintf(`
name: clerk/talk
drive: {function: {name: clerk, turns: [%s]}}
backend: {model: gpt-4.1-mini, replies: [{text: "line one\n\e[31mline two", times: 200}]}
expect: {status: done, calls: 1}
`, turns)
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Text: text, Functions: clerks, Trials: 7})
		Expect(err).NotTo(HaveOccurred())
		story := res.Trials[0].String()
		Expect(strings.Split(story, "\n")).To(HaveLen(1 + 1 + 61 + 1))
		Expect(story).To(ContainSubstring("  … 541 steps more\n"))
		Expect(story).NotTo(ContainSubstring("\x1b"))
		Expect(strings.Count(res.String(), "\n")).To(Equal(5*63+2), "five full descriptions, and one line for each other trial")
	})

	It("reports that there was no trial", func() {
		Expect((&harness.Result{}).String()).To(Equal("no trial was run\n"))
	})
})
