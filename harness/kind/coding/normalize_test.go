package coding_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/coding"
	"github.com/rehearse-dev/rehearse/llm"
)

// trial returns the site of one of two trials.
func trial(id string) app.Site {
	return app.Site{
		Folder: "/tmp/rehearse-app-" + id + "/work", Home: "/tmp/rehearse-app-" + id + "/home",
		Backend: "http://127.0.0.1:4" + id + "/t/" + id,
	}
}

var _ = Describe("The record of a request", Label("H-04"), func() {
	calm := func(agent, id string, messages ...llm.Message) []llm.Message {
		a, err := coding.New(coding.Config{Agent: agent}, &coding.Programs{})
		Expect(err).NotTo(HaveOccurred())
		return a.Normalize(trial(id), llm.Request{Messages: messages}).Messages
	}
	system := func(id, date, session string) llm.Message {
		return llm.Message{
			Role: llm.System, Content: "You work in /tmp/rehearse-app-" + id + "/work, and remember in /tmp/rehearse-app-" + id +
				"/home/.claude/projects/-tmp-rehearse-app-" + id + "-work/memory.\nToday is " + date + ", the session " + session + ".",
		}
	}
	const first, second = "0e0f6e8e-0c51-4a8e-9c9c-0c2f0c1c2d3e", "9aa7b65b-aad9-4e37-ba70-7f76b04c8d04"

	It("is the same in every trial, day and session", func() {
		one := calm("claude", "1", system("1", "2026-11-22", first))
		Expect(calm("claude", "2", system("2", "2027-01-02", second))).To(Equal(one))
		Expect(one[0].Content).To(MatchRegexp(`^\[instructions of the program: \d+ bytes, SHA-256 [0-9a-f]{12}\]$`))
	})
	It("is the same in whatever order the program has loaded its skills", func() {
		listed := func(skills ...string) llm.Message {
			return llm.Message{Role: llm.System, Content: "Use these skills:\n" + strings.Join(skills, "\n") + "\n"}
		}
		Expect(calm("gemini", "1", listed("<b/>", "<a/>"))).To(Equal(calm("gemini", "1", listed("<a/>", "<b/>"))))
		Expect(calm("gemini", "1", listed("<b/>", "<a/>"))).NotTo(Equal(calm("gemini", "1", listed("<a/>", "<c/>"))))
	})
	It("does not change the request", func() {
		call := llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{Arguments: "/tmp/rehearse-app-1/work"}}}
		Expect(calm("claude", "1", call)[0].ToolCalls[0].Arguments).To(Equal("{workspace}"))
		Expect(call.ToolCalls[0].Arguments).To(Equal("/tmp/rehearse-app-1/work"))
	})
	It("shows that the program's instructions changed", func() {
		changed := system("1", "2026-11-22", first)
		changed.Content = strings.Replace(changed.Content, "work in", "live in", 1)
		Expect(calm("claude", "1", changed)).NotTo(Equal(calm("claude", "1", system("1", "2026-11-22", first))))
	})
	It("has no metadata and no tools", func() {
		a, err := coding.New(coding.Config{Agent: "claude"}, &coding.Programs{})
		Expect(err).NotTo(HaveOccurred())
		req := a.Normalize(trial("1"), llm.Request{Model: "m", Tags: map[string]string{"user_id": first}, Tools: []llm.Tool{{Name: "Bash"}}})
		Expect(req).To(Equal(llm.Request{Model: "m", Messages: []llm.Message{}}))
	})

	DescribeTable("has the messages without the program's notes",
		func(agent string, in llm.Message, want ...llm.Message) {
			got := calm(agent, "1", in)
			if len(want) == 0 {
				Expect(got).To(BeEmpty())
				return
			}
			Expect(got).To(Equal(want))
		},
		Entry("claude: without reminders", "claude",
			llm.Message{Role: llm.User, Content: "<system-reminder>\nagents\n</system-reminder>\n<system-reminder>date</system-reminder>\n\nDo it in /tmp/rehearse-app-1/work."},
			llm.Message{Role: llm.User, Content: "Do it in {workspace}."}),
		Entry("claude: without a message of reminders only", "claude",
			llm.Message{Role: llm.User, Content: "<system-reminder>x</system-reminder>\n"}),
		Entry("claude: with an answer about reminders", "claude",
			llm.Message{Role: llm.Assistant, Content: "<system-reminder>x</system-reminder>"},
			llm.Message{Role: llm.Assistant, Content: "<system-reminder>x</system-reminder>"}),
		Entry("claude: with the arguments and results of tools", "claude",
			llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "Bash", Arguments: `{"command":"cat /tmp/rehearse-app-1/home/x"}`}}},
			llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "Bash", Arguments: `{"command":"cat {home}/x"}`}}}),
		Entry("codex: without its note about the machine", "codex",
			llm.Message{Role: llm.User, Content: "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"}),
		Entry("codex: with a user's text about such a note", "codex",
			llm.Message{Role: llm.User, Content: "What is <environment_context> good for?"},
			llm.Message{Role: llm.User, Content: "What is <environment_context> good for?"}),
		Entry("codex: with a hook's reason, without the id of its run", "codex",
			llm.Message{Role: llm.User, Content: `<hook_prompt hook_run_id="stop:0:/tmp/rehearse-app-1/home/.codex/hooks.json">Go on.</hook_prompt>`},
			llm.Message{Role: llm.User, Content: `<hook_prompt>Go on.</hook_prompt>`}),
		Entry("codex: with a command's output, without chunk and time", "codex",
			llm.Message{Role: llm.ToolRole, ToolCallID: "c", Content: "Chunk ID: e9073f\nWall time: 0.1234 seconds\nProcess exited with code 0\nOutput:\nWall time: 5\n"},
			llm.Message{Role: llm.ToolRole, ToolCallID: "c", Content: "Chunk ID: {any}\nWall time: {any} seconds\nProcess exited with code 0\nOutput:\nWall time: 5\n"}),
		Entry("codex: with the output of a script and of a patch", "codex",
			llm.Message{Role: llm.ToolRole, Content: "Script completed\nWall time 0.2 seconds\nOutput:\n\nhi\n"},
			llm.Message{Role: llm.ToolRole, Content: "Script completed\nWall time {any} seconds\nOutput:\n\nhi\n"}),
		Entry("codex: with text that only resembles such output", "codex",
			llm.Message{Role: llm.ToolRole, Content: "Wall time: 0.2 seconds"},
			llm.Message{Role: llm.ToolRole, Content: "Wall time: 0.2 seconds"}),
		Entry("the backend's address, whole and as a host", "codex",
			llm.Message{Role: llm.ToolRole, Content: "http://127.0.0.1:41/t/1/v1 and 127.0.0.1:41"},
			llm.Message{Role: llm.ToolRole, Content: "{backend}/v1 and {backend}"}),
	)
})
