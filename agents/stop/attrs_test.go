package stop_test

import (
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

var _ = Describe("The attributes of a verdict", func() {
	It("quote what was detected, in order and by category, and no mere reference", func() {
		v := stop.Judge("The importer is written. Next steps: 1. Test it 2. Deploy it", stop.Options{})
		real := 0
		for _, d := range v.Detections {
			if d.Real {
				real++
			}
		}
		Expect(real).To(BeNumerically(">", 0))
		quotes := 0
		for key, value := range v.Attrs() {
			if !strings.HasPrefix(key, "quote.") {
				continue
			}
			quotes++
			Expect(v.Detections).To(ContainElement(And(HaveField("Real", true), HaveField("Text", value))), key)
			_, category, _ := strings.Cut(strings.TrimPrefix(key, "quote."), ".")
			Expect(v.Detections).To(ContainElement(And(HaveField("Text", value), HaveField("Category", stop.Category(category)))), key)
		}
		Expect(quotes).To(Equal(min(real, 8)))
		Expect(v.Attrs()).To(HaveKey(HavePrefix("quote.1.")))
	})

	It("quote at most eight, of at most 200 bytes of whole characters", func() {
		v := stop.Verdict{}
		for range 12 {
			v.Detections = append(v.Detections, stop.Detection{Real: true, Category: "next_steps", Text: "x" + strings.Repeat("é", 300)})
		}
		attrs := v.Attrs()
		Expect(attrs).To(And(HaveKey("quote.8.next_steps"), Not(HaveKey("quote.9.next_steps")), HaveKeyWithValue("detections", 12)))
		quote := attrs["quote.1.next_steps"].(string)
		Expect(quote).To(HaveLen(199))
		Expect(utf8.ValidString(quote)).To(BeTrue())
	})
})
