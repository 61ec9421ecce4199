package hook_test

import (
	"math"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("The reason of a refusal", func() {
	It("is bounded and valid UTF-8 for any number of findings", func() {
		g := newGuard()
		g.Judge = func(_ string, o stop.Options) stop.Verdict {
			v := stop.Verdict{Policy: o.Policy, Class: stop.Defers}
			for i := range 500 {
				v.Detections = append(v.Detections, stop.Detection{Real: true, Span: stop.Span{Start: 10 * i, End: 10*i + 5}, Text: strings.Repeat("é\x1b[31m", 300)})
				v.Steps = append(v.Steps, stop.Step{Description: strings.Repeat("日本\n", 300)})
			}
			return v
		}
		answer, _ := g.stop(hook.Claude, session("x", 0))
		Expect(answer.Blocked).To(BeTrue())
		Expect(len(answer.Reason)).To(BeNumerically("<=", 9000))
		Expect(utf8.ValidString(answer.Reason)).To(BeTrue())
		Expect(answer.Reason).To(And(ContainSubstring("and 495 more"), Not(ContainSubstring("\x1b"))))
	})
	It("has neither mere references nor mentions within others", func() {
		g := newGuard()
		g.Judge = func(_ string, o stop.Options) stop.Verdict {
			return stop.Verdict{Class: stop.Defers, Detections: []stop.Detection{
				{Real: true, Span: stop.Span{Start: 0, End: 30}, Text: "outer"},
				{Real: true, Span: stop.Span{Start: 5, End: 9}, Text: "inner"},
				{Real: true, Span: stop.Span{Start: 32, End: 35}, Text: "short"},
				{Real: true, Span: stop.Span{Start: 32, End: 39}, Text: "longer"},
				{Real: false, Span: stop.Span{Start: 40, End: 44}, Text: "quoted"},
			}}
		}
		answer, _ := g.stop(hook.Claude, session("x", 0))
		Expect(answer.Reason).To(And(ContainSubstring("- \"outer\"\n- \"longer\"\n\n"), ContainSubstring("Continue with what is part of"),
			Not(ContainSubstring("inner")), Not(ContainSubstring("quoted"))))
	})
})

var _ = DescribeTable("Validate refuses a configuration with an invalid field",
	func(c hook.Config, says string) { Expect(c.Validate()).To(MatchError(ContainSubstring(says))) },
	Entry("host", hook.Config{Host: "claud"}, `host "claud" is not known; use one of [claude`),
	Entry("policy", hook.Config{Policy: "lax"}, `policy "lax"`),
	Entry("threshold", hook.Config{Threshold: -0.5}, "threshold -0.5"),
	Entry("threshold", hook.Config{Threshold: 1.5}, "threshold 1.5"),
	Entry("threshold", hook.Config{Threshold: math.NaN()}, "threshold NaN"),
	Entry("cap", hook.Config{Cap: -1}, "cap -1"),
	Entry("cap", hook.Config{Cap: 101}, "cap 101"),
)
