package drive_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// command is a scenario that drives the demo agent, which is this test binary.
func command(args, more, backend string) string {
	return "drive:\n  command:\n    run: [\"{rehearse}\"" + args + "]\n    env: {REHEARSE_DEMO: command}\n" + more + "\nbackend:\n  unpriced: true\n" + backend
}

const twoTurns = "    turns: [What is it?, And then?]\n"

const twoReplies = "  replies: [{text: It is this.}, {text: Then that.}]\n"

var _ = DescribeTable("a command receives its turns and answers",
	func(args, keys string) {
		t := done(command(args, keys+twoTurns, twoReplies), 1)
		Expect(t.End.Text).To(Equal("Then that."))
		Expect(t.End.Iterations).To(Equal(2))
		Expect(answers(t)).To(Equal([]string{"It is this.", "Then that."}))
		Expect(t.Calls).To(HaveLen(2))
		Expect(t.Calls[1].Messages).To(HaveLen(4), "the agent remembers what was said")
	},
	Entry("by standard input, in text", "", ""),
	Entry("by an argument", `, -argument, --, "{turn}"`, "    input: argument\n"),
	Entry("by an argument at the end", `, -argument, --`, "    input: argument\n"),
	Entry("by a file", `, -file, "{file}"`, "    input: file\n"),
	Entry("in JSON", ", -output, json", "    output: json\n    answer: $.answer\n"),
	Entry("in JSON lines", ", -output, jsonl", "    output: jsonl\n    answer: $.result\n"),
	Entry("for a session", ", -session", "    lives: session\n"),
	Entry("for a session, in JSON", ", -session, -output, json", "    lives: session\n    output: json\n    answer: $.answer\n"),
	Entry("for a session, in JSON lines", ", -session, -output, jsonl", "    lives: session\n    output: jsonl\n    answer: $.result\n"),
)

// answers returns the agent's answers in the order of the turns.
func answers(t record.Trial) (all []string) {
	for _, e := range t.Events {
		if e.Name == "turn" {
			all = append(all, e.Detail)
		}
	}
	return all
}

// session is a shell command that lives for the conversation.
func session(line string) string {
	return "drive:\n  command:\n    run: [sh, -c, '" + line + "']\n    lives: session\n    network: shared\n" + twoTurns +
		"backend:\n  unpriced: true\n  rules: [{text: x, optional: true}]\n"
}

var _ = Describe("a command that lives for the session", func() {
	It("fails if its exit status reports a failure after the last turn", func() {
		t, _ := trial(session("read a; echo A; read b; echo B; read c; echo gone >&2; exit 3"), 1)
		Expect(t.End).To(And(HaveField("Status", "failed"), HaveField("ExitCode", 3), HaveField("HarnessError", ""), HaveField("Iterations", 2), HaveField("Text", "B")))
		Expect(t.End.Details).To(HavePrefix(`after the last turn: the program "sh" ended with exit status 3`))
		Expect(t.Events[len(t.Events)-1]).To(And(HaveField("Name", "log"), HaveField("Detail", "gone")))
	})

	It("does not pass if it prints two lines for a turn", func() {
		t, _ := trial(session(`while read a; do echo A; echo B; done`), 1)
		Expect(t.End.Status).To(Equal("error"))
		Expect(t.End.HarnessError).To(ContainSubstring("more than one line for a turn"))
	})
})
