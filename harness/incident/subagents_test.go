package incident_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/incident"
)

var _ = Describe("the subagents of a session of Claude Code", func() {
	var folder, session string

	write := func(name string, lines ...string) {
		GinkgoHelper()
		name = filepath.Join(folder, name)
		Expect(os.MkdirAll(filepath.Dir(name), 0o700)).To(Succeed())
		Expect(os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o600)).To(Succeed())
	}

	side := func(line string) string { return strings.Replace(line, "{", `{"isSidechain":true,`, 1) }

	BeforeEach(func() {
		folder = GinkgoT().TempDir()
		session = filepath.Join(folder, "s.jsonl")
		write("s.jsonl", claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), claudeLine(5, "user", given("c1")),
			claudeLine(6, "assistant", use("c2")))
		write("s/subagents/agent-1.jsonl", side(claudeLine(3, "user", text("count"))), side(claudeLine(4, "assistant", text("one"))))
		write("s/subagents/agent-1.meta.json", "{}")
	})

	It("are read from the folder of the session, in the order of their calls", func() {
		for _, names := range [][]string{{session}, {session, filepath.Join(folder, "s", "subagents", "agent-1.jsonl")}} {
			conversations, _, err := incident.Read(names, incident.Auto)
			Expect(err).NotTo(HaveOccurred())
			Expect(conversations).To(HaveLen(1))
			Expect(conversations[0].Turns).To(HaveLen(3))
			Expect(conversations[0].Turns[1].Reply.Text).To(Equal("one"))
			Expect(conversations[0].Done).To(BeFalse(), "the session ends with a call of a tool")
			Expect(conversations[0].Users).To(Equal([]string{"hi"}))
		}
	})

	It("may fail without an end of the session", func() {
		write("s/subagents/agent-1.jsonl", side(claudeLine(3, "user", text("count"))), side(claudeError(4, "API Error: 400 no", "")))
		conversations, _, err := incident.Read([]string{session}, incident.Auto)
		Expect(err).NotTo(HaveOccurred())
		sc := written(conversations[0], incident.Options{})
		Expect(string(sc.Text)).To(MatchRegexp(`(?s)id: c1.*status: 400.*id: c2`))
	})

	It("make calls that may be missing if a line of theirs cannot be read", func() {
		write("s/subagents/agent-1.jsonl", side(claudeLine(3, "user", text("count"))), broken, side(claudeLine(4, "assistant", text("one"))))
		conversations, _, err := incident.Read([]string{session}, incident.Auto)
		Expect(err).NotTo(HaveOccurred())
		Expect(conversations[0].Gaps).To(BeTrue())
	})

	DescribeTable("are left out if their file cannot be read", func(lines []string, why string) {
		name := filepath.Join(folder, "s", "subagents", "agent-2.jsonl")
		write("s/subagents/agent-2.jsonl", lines...)
		if lines == nil {
			Expect(os.Remove(name)).To(Succeed())
			Expect(os.Mkdir(name, 0o700)).To(Succeed())
		}
		conversations, findings, err := incident.Read([]string{session}, incident.Auto)
		Expect(err).NotTo(HaveOccurred())
		Expect(findings).To(HaveLen(1))
		Expect(findings[0].File).To(Equal(name))
		Expect(findings[0].Message).To(MatchRegexp("^the calls of a subagent are left out: " + why))
		Expect(conversations).To(HaveLen(1))
		Expect(conversations[0].Turns).To(HaveLen(3))
		sc := written(conversations[0], incident.Options{})
		Expect(sc.Notes).To(ContainElement("The file of a subagent cannot be read, so calls are missing."))
		Expect(sc.Incomplete).To(BeTrue())
		if lines != nil {
			_, _, err = incident.Read([]string{session, name}, incident.Auto)
			Expect(err).To(MatchError(ContainSubstring("agent-2.jsonl: the file is")), "the user named it")
		}
	},
		Entry("because it is empty", []string{""}, "the file is empty$"),
		Entry("because its only line is torn", []string{broken}, "the file is "),
		Entry("because it is of another program", []string{`{"hello":1}`}, "the file is not a session of Claude Code$"),
		Entry("because it is a folder", nil, "read the input: .* is a folder"),
	)

	It("are noted if their file is missing", func() {
		called := strings.Replace(claudeLine(5, "user", given("c1")), "{", `{"toolUseResult":{"agentId":"1"},`, 1)
		answer := claudeLine(6, "assistant", text("done"))
		write("s.jsonl", claudeLine(1, "user", text("hi")), claudeLine(2, "assistant", use("c1")), called, answer)
		sub := func(line string) string { return strings.Replace(side(line), "{", `{"agentId":"1",`, 1) }
		write("s/subagents/agent-1.jsonl", sub(claudeLine(3, "user", text("count"))), sub(claudeLine(4, "assistant", text("one"))))
		conversations, _, err := incident.Read([]string{session}, incident.Auto)
		Expect(err).NotTo(HaveOccurred())
		whole := written(conversations[0], incident.Options{})
		Expect(whole.Incomplete).To(BeFalse())
		Expect(string(whole.Text)).To(ContainSubstring("calls: 3\n  status: done"))

		missing := filepath.Join(folder, "s", "subagents", "agent-1.jsonl")
		Expect(os.Remove(missing)).To(Succeed())
		conversations, _, err = incident.Read([]string{session}, incident.Auto)
		Expect(err).NotTo(HaveOccurred())
		part := written(conversations[0], incident.Options{})
		Expect(part.Notes).To(ContainElement("The files lack the calls of 1 subagent; the first missing file is " + missing + "."))
		Expect(part.Incomplete).To(BeTrue())
		Expect(string(part.Text)).To(ContainSubstring("at_least: 2\n"))
		Expect(string(part.Text)).NotTo(ContainSubstring("status: done"))
	})
})
