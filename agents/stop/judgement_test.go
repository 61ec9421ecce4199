package stop_test

import (
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("The event of a judgement", func() {
	It("quotes the real detections in order, by category", func() {
		v := stop.Judge("The importer is written. Next steps: 1. Test it 2. Deploy it", stop.Options{})
		real := 0
		for _, d := range v.Detections {
			if d.Real {
				real++
			}
		}
		Expect(real).To(BeNumerically(">", 0))
		j := v.Judgement()
		Expect(j.Detections).To(Equal(real))
		Expect(j.Quotes).To(And(HaveLen(min(real, 8)), HaveKey(HavePrefix("1."))))
		for name, text := range j.Quotes {
			_, category, _ := strings.Cut(name, ".")
			Expect(v.Detections).To(ContainElement(And(
				HaveField("Real", true), HaveField("Text", text), HaveField("Category", stop.Category(category)))), name)
		}
	})

	It("quotes at most eight detections, at most 200 bytes of whole characters each", func() {
		v := stop.Verdict{}
		for range 12 {
			v.Detections = append(v.Detections, stop.Detection{Real: true, Category: "next_steps", Text: "x" + strings.Repeat("é", 300)})
		}
		j := v.Judgement()
		Expect(j.Detections).To(Equal(12))
		Expect(j.Quotes).To(And(HaveLen(8), HaveKey("8.next_steps")))
		Expect(j.Quotes["1.next_steps"]).To(HaveLen(199))
		Expect(utf8.ValidString(j.Quotes["1.next_steps"])).To(BeTrue())
	})

	It("has a field in recordings for each category and quotation", func() {
		executed := 0
		want := stop.Judgement{
			Class: stop.Defers, Policy: stop.Balanced, Point: stop.FinalAnswer, Score: 0.5, Steps: 2, Forced: true, Executed: &executed,
			Detections: 1, Categories: map[stop.Category]int{stop.NextSteps: 1}, Quotes: map[string]string{"1.next_steps": "Test it"},
		}
		e := event.New(3, "because", want)
		Expect(e).To(Equal(event.Event{Kind: event.Verdict, Name: "stop", N: 3, Detail: "because", Attrs: map[string]any{
			"allow": false, "class": "defers", "policy": "balanced", "point": "final-answer", "score": 0.5, "steps": 2, "forced": true,
			"executed": 0, "detections": 1, "category.next_steps": 1, "quote.1.next_steps": "Test it",
		}}))
		got, ok := event.Read[stop.Judgement](&e)
		Expect(ok).To(BeTrue())
		Expect(got).To(Equal(want))
	})

	DescribeTable("is not read from a recording with fields of other types",
		func(field string, value any) {
			_, ok := event.Read[stop.Judgement](&event.Event{Kind: event.Verdict, Name: "stop", Attrs: map[string]any{field: value}})
			Expect(ok).To(BeFalse())
		},
		Entry("a decision that is a number", "allow", 1),
		Entry("a count that is text", "category.next_steps", "one"),
		Entry("a quotation that is a number", "quote.1.next_steps", 1),
	)
})
