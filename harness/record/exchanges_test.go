package record_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("the exchanges of a trial", func() {
	trial := func(exchanges int) *record.Trial {
		t := &record.Trial{Calls: []record.Call{{N: 1}, {N: 2, Retries: make([]llm.Retry, 2)}, {N: 3}}}
		for n := 1; n <= exchanges; n++ {
			t.Exchanges = append(t.Exchanges, record.Exchange{N: n})
		}
		return t
	}
	It("belong to calls in order, one for each attempt", func() {
		byCall, ok := trial(5).ByCall()
		Expect(ok).To(BeTrue())
		Expect(byCall).To(Equal([][]record.Exchange{{{N: 1}}, {{N: 2}, {N: 3}, {N: 4}}, {{N: 5}}}))
	})
	DescribeTable("are not assigned if their number does not match", func(exchanges int) {
		byCall, ok := trial(exchanges).ByCall()
		Expect(ok).To(BeFalse())
		Expect(byCall).To(BeNil())
	}, Entry("none", 0), Entry("too few", 4), Entry("too many", 6))
})
