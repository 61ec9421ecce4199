package measure_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("The last call", Label("H-05"), func() {
	It("has the end of the request, the answer, the script line and the fault that fired", func() {
		tr := record.Trial{
			Messages: []record.Message{
				{ID: "m1", Message: llm.Message{Role: llm.User, Content: "first"}},
				{ID: "m2", Message: llm.Message{Role: llm.ToolRole, Content: "result"}},
				{ID: "m3", Message: llm.Message{
					Role: llm.Assistant, Content: "I look.", ToolCalls: []llm.ToolCall{{Name: "find", Arguments: `{"q":1}`}},
				}},
			},
			Calls:     []record.Call{{N: 1}, {N: 2, Model: "m", Messages: []string{"m1", "m2"}, Reply: "m3"}},
			Exchanges: []record.Exchange{{Line: "replies[0]"}, {Line: "replies[1]", Fault: "reset", Fired: true}},
			Events:    []record.Event{{Event: event.New(0, "a\n  b", record.Log{})}},
		}
		got := measure.Trial(scenario(), tr, nil, nil)
		Expect(got.Last).To(Equal(&measure.LastCall{
			N: 2, Model: "m", Line: "replies[1]", Fault: "reset", Role: "tool", Request: "result", Reply: "I look.\nfind({\"q\":1})",
		}))
		Expect(got.Log).To(Equal("a\n  b"))
	})
	It("is missing without calls", func() {
		Expect(measure.Trial(scenario(), record.Trial{}, nil, nil).Last).To(BeNil())
	})
})
