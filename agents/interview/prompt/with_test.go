package prompt_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var _ = Describe("A set with replaced texts", func() {
	shipped := func() *prompt.Set {
		GinkgoHelper()
		s, err := prompt.Load(session.English)
		Expect(err).NotTo(HaveOccurred())
		return s
	}
	owed := session.Session{Step: session.Block3, Register: session.Informal, Owed: &session.Owed{Purpose: session.PurposeMirror}}
	task := func(s *prompt.Set) string {
		messages := s.Build(owed, nil, prompt.Limits{}).Request.Messages
		return messages[len(messages)-1].Content
	}

	It("replaces the named texts in both registers and nothing else", func() {
		before := task(shipped())
		own, err := shipped().With(map[string]string{"mirror": "Say what you saw, [[buddy|sir]]."})
		Expect(err).NotTo(HaveOccurred())
		Expect(task(own)).To(HavePrefix("Say what you saw, buddy.\n\n# Block 3"))
		Expect(task(shipped())).To(Equal(before))
	})

	It("has another version and hash, which depend on the texts", func() {
		one, _ := shipped().With(map[string]string{"mirror": "One."})
		again, _ := shipped().With(map[string]string{"mirror": "One."})
		two, _ := shipped().With(map[string]string{"mirror": "Two."})
		Expect(one.String()).To(HavePrefix(shipped().Version + "+own@"))
		Expect(one.String()).To(Equal(again.String()))
		Expect(one.String()).NotTo(Equal(two.String()))
		Expect(shipped().With(nil)).To(BeIdenticalTo(shipped()))
	})

	DescribeTable("refuses", func(name, text, want string) {
		_, err := shipped().With(map[string]string{name: text})
		Expect(err).To(MatchError(ContainSubstring(want)))
	},
		Entry("an unknown name", "miror", "x", `unknown prompt "miror"`),
		Entry("the manifest", "manifest.yaml", "version: 2", `unknown prompt "manifest.yaml"`),
		Entry("an empty text", "mirror", " \n", "replace the prompt mirror: the text is empty"),
		Entry("half a choice", "mirror", "[[you]]", "expected [[informal|formal]]"),
		Entry("a reinforcement without the complaint", "reinforce", "Again.", "{complaint}"),
		Entry("a placeholder that is not filled in", "mirror", "{titels}", "unknown placeholder {titels}"),
	)
})
