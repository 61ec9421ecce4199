package kind

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The ledger of an interview", func() {
	DescribeTable("matches the calls that were made",
		func(made, listed, lost int, matches bool) {
			Expect(ledgerMatches(made, listed, lost)).To(Equal(matches))
		},
		Entry("if it has each of them", 3, 3, 0, true),
		Entry("if a crash interrupted one that was made", 3, 3, 1, true),
		Entry("if a crash interrupted one before it was made", 3, 4, 1, true),
		Entry("but not if a call is missing", 3, 2, 0, false),
		Entry("but not if a call is listed that was never made", 3, 4, 0, false),
		Entry("but not if more are listed than a crash can explain", 3, 5, 1, false),
	)
})
