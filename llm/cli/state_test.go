package cli_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm/cli"
)

var _ = Describe("The state of an agent's program", func() {
	env := func(pairs map[string]string) func(string) string {
		return func(name string) string { return pairs[name] }
	}

	It("is in the home of the user, or where the program's variable says", func() {
		at := env(map[string]string{"HOME": "/h"})
		Expect(cli.StateOf("claude", at)).To(Equal(cli.State{
			Folders: []string{"/h/.claude"}, Files: []string{"/h/.claude.json"}, Settings: []string{"/h/.claude/settings.json"},
		}))
		Expect(cli.StateOf("codex", env(map[string]string{"HOME": "/h", "CODEX_HOME": "/c"})).Folders).To(Equal([]string{"/c"}))
	})

	It("is known for each agent but exec", func() {
		for _, id := range cli.IDs() {
			state := cli.StateOf(id, env(map[string]string{"HOME": "/h"}))
			if id == "exec" {
				Expect(state).To(BeZero())
			} else {
				Expect(state.Folders).NotTo(BeEmpty(), id)
			}
			Expect(cli.StateOf(id, env(nil))).To(BeZero(), "without HOME")
		}
	})
})
