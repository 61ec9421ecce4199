package measure_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("Snapshots", Label("H-04"), func() {
	all := expect.Snapshot{Text: "a.snap", Tools: "b.snap", Prompts: "c.snap"}
	render := func(s expect.Snapshot, tr record.Trial) map[string]string {
		return measure.Trial(record.Scenario{Expect: expect.Expect{Snapshot: &s}}, tr, nil, nil).Snapshots
	}
	message := func(id string, m llm.Message) record.Message { return record.Message{ID: id, Message: m} }

	It("are rendered only for the files that the scenario names", func() {
		tr := record.Trial{End: record.End{Text: "Done."}}
		Expect(measure.Trial(record.Scenario{}, tr, nil, nil).Snapshots).To(BeNil())
		Expect(render(expect.Snapshot{Text: "a.snap"}, tr)).To(Equal(map[string]string{"text": "Done.\n"}))
	})

	It("of a trial without calls name what is missing", func() {
		Expect(render(all, record.Trial{})).To(Equal(map[string]string{
			"text": "\n", "tools": "(no tool was called)\n", "prompts": "(the model was not called)\n",
		}))
	})

	It("show tools with their arguments and results, and each message once", func() {
		tr := record.Trial{
			Messages: []record.Message{
				message("m1", llm.Message{Role: llm.System, Content: "Be kind.\n"}),
				message("m2", llm.Message{Role: llm.User, Content: "Where is it?"}),
				message("m3", llm.Message{Role: llm.Assistant, ToolCalls: []llm.ToolCall{
					{ID: "call_1", Name: "find", Arguments: `{"z": 1.0, "a": "<b>"}`}, {ID: "call_2", Name: "stop", Arguments: "not JSON"},
				}}),
				message("m4", llm.Message{Role: llm.ToolRole, Content: "in\nParis\n", ToolCallID: "call_1"}),
				message("m5", llm.Message{Role: llm.Assistant, Content: "In Paris."}),
			},
			Calls: []record.Call{
				{N: 1, Messages: []string{"m1", "m2"}, Reply: "m3"},
				{N: 2, Messages: []string{"m1", "m2", "m3", "m4"}, Reply: "m5"},
			},
			End: record.End{Text: "In Paris."},
		}
		Expect(render(all, tr)).To(Equal(map[string]string{
			"text": "In Paris.\n",
			"tools": `## call 1

find({"a":"<b>","z":1.0})
  in
  Paris
stop(not JSON)
  (no result)
`,
			"prompts": `## call 1

[system]
Be kind.

[user]
Where is it?

## call 2

(2 messages as in the call before)

[assistant]
find({"a":"<b>","z":1.0})
stop(not JSON)

[tool]
in
Paris
`,
		}))
	})

	It("of a conversation have all turns", func() {
		turn := func(n int, user, text, failed string) record.Event {
			return record.Event{Event: event.Event{
				Kind: event.State, Name: "turn", N: n, Detail: text, Attrs: attrs{"user": user, "error": failed},
			}}
		}
		tr := record.Trial{Events: []record.Event{turn(1, "When?", "At nine.", ""), turn(2, "And?", "", "it crashed")}}
		Expect(render(expect.Snapshot{Text: "a.snap"}, tr)["text"]).To(Equal(
			"## turn 1\n\n[user]\nWhen?\n\n[agent]\nAt nine.\n\n## turn 2\n\n[user]\nAnd?\n\n[no answer]\n"))
	})

	DescribeTable("replace what differs from run to run",
		func(text, want string, ignore ...string) {
			got := render(expect.Snapshot{Text: "a.snap", Ignore: ignore}, record.Trial{End: record.End{Text: text}})
			Expect(got["text"]).To(Equal(want + "\n"))
		},
		Entry("ids, by their order", "2b7e1516-28ae-4d2a-a6ab-f7158809cf4f, call_8GhTsPq0, 2b7e1516-28ae-4d2a-a6ab-f7158809cf4f", "{id 1}, {id 2}, {id 1}"),
		Entry("times", "at 2026-11-23T10:00:00.123+01:00 and 2026-11-23 10:00", "at {time} and {time}"),
		Entry("not dates, numbers and words", "2026-11-23, 4711, run_fast, 10:00", "2026-11-23, 4711, run_fast, 10:00"),
		Entry("what the scenario ignores", "order 17 of 23", "{ignored} of 23", `order \d+`),
		Entry("line ends and bytes that are not text", "a\r\nb\xff\x00", "a\nb\uFFFD\uFFFD"),
	)

	It("do not depend on trailing line ends", func() {
		tr := record.Trial{End: record.End{Text: "a" + strings.Repeat("\n", 3)}}
		Expect(render(expect.Snapshot{Text: "a.snap"}, tr)["text"]).To(Equal("a\n"))
	})
})
