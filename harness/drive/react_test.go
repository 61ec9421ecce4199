package drive_test

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
)

// clerk is an agent that writes notes.
const clerk = `
    agents:
      clerk.agent.md: |
        ---
        id: clerk
        description: Writes notes.
        contract:
          inputs: [{name: topic, required: true}]
        ---
        You write notes.
`

// reacted returns the end and the facts of one run of the clerk, with more keys of the
// drive and the replies of the backend.
func reacted(drive, replies string) (record.End, measure.Facts) {
	GinkgoHelper()
	text := "drive:\n  react:\n    agent: clerk.agent.md\n    task: {do: Write a note., input: {topic: tea}}" + clerk + indent(drive) +
		"backend:\n  model: gpt-4.1-mini\n  replies:\n" + replies + "expect: {status: done}\n"
	d := driver(newEnv(), text)
	tr, _ := d.Trial(context.Background(), 1)
	return tr.End, measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())
}

// writes and concludes are the replies of a good model.
const (
	writes = `    - text: |
        thought: The note on tea is missing, so I write it.
        action: generate
        action_input: {type: note, path: note.md, spec: "Tea is served at 4."}
`
	concludes = `    - text: |
        reflection: |
          note.md holds 19 bytes on tea; nothing else was asked for.
        decision: done
        reason: the note is there
        ---
        verification:
          completeness: {question: all?, check: [topic tea is treated]}
          consistency: {question: coherent?, check: [note.md]}
          correctness: {question: right?, check: [served at 4]}
          constraints: {question: kept?, check: [there are none]}
        ---
        note.md says when tea is served.
`
)

var _ = Describe("Driving a ReAct agent", func() {
	It("gives it a workspace and records the files that it leaves", func() {
		end, facts := reacted("files: {old.md: before}", writes+concludes)
		Expect(end.Status).To(Equal("done"), end.Details)
		Expect(end.Text).To(Equal("note.md says when tea is served."))
		Expect(reactOf(facts).Actions).To(Equal(map[string]int{"generate": 1}))
		Expect(reactOf(facts).Verified).To(BeTrue())
		var left []string
		for _, e := range facts.Events {
			if e.Name == "file" {
				left = append(left, e.Attrs["path"].(string)+": "+e.Detail)
			}
		}
		Expect(left).To(Equal([]string{"note.md: Tea is served at 4.", "old.md: before"}))
	})

	It("records the beginning of a long file, without an incomplete character", func() {
		_, facts := reacted("files: {long.md: \"a"+strings.Repeat("é", 1500)+"\"}", writes+concludes)
		Expect(facts.Events).To(ContainElement(And(
			HaveField("Attrs", And(HaveKeyWithValue("path", "long.md"), HaveKeyWithValue("bytes", 3001))),
			HaveField("Detail", "a"+strings.Repeat("é", 999)),
		)))
	})

	It("confines it to the workspace, also behind a link that leads out", func() {
		out := strings.ReplaceAll(writes, "path: note.md", "path: out/note.md")
		_, facts := reacted("links: {out: /tmp}\nmax_iterations: 1", out+`    - text: |
        reflection: The path out/note.md leads outside the workspace.
        decision: blocked
        reason: nothing can be written
`)
		Expect(reactOf(facts).Failed).To(Equal(map[string]int{"outside-workspace": 1}))
		Expect(reactOf(facts).Written).To(BeZero())
	})

	It("answers for a person as often as the scenario says", func() {
		ask := `    - text: |
        thought: I do not know when tea is served.
        action: request_info
        action_input: {question: When is tea served?, context: the note}
`
		_, facts := reacted("person: [At four.]", ask+`    - text: |
        reflection: |
          The person said "At four."; whether that is winter time is open.
        decision: continue
        reason: one more question
        ---
        thought: Winter time may differ.
        action: request_info
        action_input: {question: In winter too?, context: the note}
`)
		Expect(reactOf(facts).Asked).To(Equal(2))
		Expect(reactOf(facts).Answered).To(Equal(1))
		Expect(facts.Run.Status).To(Equal("escalate"))
	})

	It("drives a shipped agent on a task of its own", func() {
		d := driver(newEnv(), "drive:\n  react: {example: security-audit}\nbackend:\n  model: gpt-4.1-mini\n  replies:\n"+`    - text: |
        decision: blocked
        reason: nothing to audit
`)
		tr, _ := d.Trial(context.Background(), 1)
		Expect(tr.End.Status).To(Equal("blocked"), tr.End.Details)
		Expect(measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions()).Events).To(ContainElement(HaveField("Name", "file")))
	})
})
