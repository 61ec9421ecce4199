package prompt_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var _ = Describe("Build", func() {
	It("builds", func() {
		for _, l := range session.Languages() {
			b := load(l).Build(owing(session.Block3, session.PurposeMirror, 0), until(session.Block3), prompt.Limits{})
			GinkgoWriter.Println(b)
			Expect(b.Request.Messages).NotTo(BeEmpty())
		}
	})
})
