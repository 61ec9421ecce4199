package hook_test

import (
	"encoding/json"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

var _ = Describe("The settings", func() {
	for _, h := range hook.Hosts() {
		It("of "+string(h)+" are the ones in its documentation", func() {
			s, err := hook.Install(h, "rehearse", hook.Config{Cap: hook.DefaultCap, Policy: stop.Balanced}) // the defaults
			Expect(err).NotTo(HaveOccurred())
			golden.Expect(filepath.Join(string(h), "settings.json"), s.JSON)
			Expect(json.Valid(s.JSON)).To(BeTrue())
			Expect(s.File).To(MatchRegexp(`^\.[a-z]+/.*\.json$`))
			Expect(s.UserFile).To(MatchRegexp(`^~/\.[a-z]+/.*\.json$`))
			Expect(s.Notes).NotTo(BeEmpty())
		})
		It("of "+string(h)+" pass the flags on", func() {
			s, err := hook.Install(h, "rehearse", hook.Config{
				Policy: stop.Strict, Cap: 5, State: "/var/guard", Shadow: true, Log: "stops.jsonl", Subagents: true,
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(string(s.JSON)).To(ContainSubstring(
				"rehearse guard --host " + string(h) +
					" --policy strict --cap 5 --state /var/guard --log stops.jsonl --shadow --subagents"))
		})
	}
	DescribeTable("judge subagents where the host has an event for them",
		func(h hook.Host, event string) {
			for _, wanted := range []bool{false, true} {
				s, err := hook.Install(h, "rehearse", hook.Config{Subagents: wanted})
				Expect(err).NotTo(HaveOccurred())
				var file struct{ Hooks map[string]any }
				Expect(json.Unmarshal(s.JSON, &file)).To(Succeed())
				if wanted {
					Expect(file.Hooks).To(HaveKey(event))
				} else {
					Expect(file.Hooks).NotTo(HaveKey(event))
				}
			}
		},
		Entry("Claude Code", hook.Claude, "SubagentStop"),
		Entry("Codex", hook.Codex, "SubagentStop"),
		Entry("Copilot", hook.Copilot, "subagentStop"),
	)
	It("quote a program's path for the shell", func() {
		s, err := hook.Install(hook.Copilot, "/Users/O'Neil/my tools/rehearse", hook.Config{})
		Expect(err).NotTo(HaveOccurred())
		var file struct {
			Hooks map[string][]map[string]any
		}
		Expect(json.Unmarshal(s.JSON, &file)).To(Succeed())
		entry := file.Hooks["agentStop"][0]
		Expect(entry["bash"]).To(Equal(`'/Users/O'\''Neil/my tools/rehearse' guard --host copilot`))
		Expect(entry["powershell"]).To(Equal(`& '/Users/O''Neil/my tools/rehearse' guard --host copilot`))
	})
	It("are an error for an unknown host", func() {
		_, err := hook.Install("kiro", "rehearse", hook.Config{})
		Expect(err).To(MatchError(ContainSubstring(`no settings for host "kiro"`)))
		_, err = hook.Install(hook.Auto, "rehearse", hook.Config{})
		Expect(err).To(HaveOccurred())
	})
})
