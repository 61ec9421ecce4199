package scenarios_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("Select", Label("H-01"), func() {
	set := []scenarios.Scenario{
		{Name: "loop/golden", File: "shipped:loop/golden.yaml", Tags: []string{"golden", "fast"}},
		{Name: "order-late", File: "scenarios/deep/late.yaml", Tags: []string{"slow"}},
		{Name: "order-status", File: "scenarios/order.yaml"},
		{Name: "shop/refund", File: "/elsewhere/refund.yml", Tags: []string{"slow", "money"}},
	}

	DescribeTable("keeps what satisfies all parts of the filter",
		func(filter scenarios.Filter, want ...string) {
			kept, found := scenarios.Select(set, filter)
			Expect(found.Error()).To(BeEmpty())
			Expect(append([]string{}, namesOf(kept)...)).To(Equal(append([]string{}, want...)))
		},
		Entry("no part", scenarios.Filter{}, "loop/golden", "order-late", "order-status", "shop/refund"),
		Entry("an expression", scenarios.Filter{Keyword: "order and not slow"}, "order-status"),
		Entry("an expression that excludes what there is not", scenarios.Filter{Keyword: "order and not live"}, "order-late", "order-status"),
		Entry("one of several tags", scenarios.Filter{Tags: []string{"money", "fast"}}, "loop/golden", "shop/refund"),
		Entry("a file", scenarios.Filter{Files: []string{"./scenarios/order.yaml"}}, "order-status"),
		Entry("a folder", scenarios.Filter{Files: []string{"scenarios/"}}, "order-late", "order-status"),
		Entry("the current folder", scenarios.Filter{Files: []string{"."}}, "loop/golden", "order-late", "order-status"),
		Entry("files that match", scenarios.Filter{Files: []string{"scenarios/*.yaml", "/elsewhere/r*"}}, "order-status", "shop/refund"),
		Entry("a shipped file", scenarios.Filter{Files: []string{"shipped:loop/*.yaml"}}, "loop/golden"),
		Entry("without a name", scenarios.Filter{Exclude: []string{"order-late"}}, "loop/golden", "order-status", "shop/refund"),
		Entry("without names that match", scenarios.Filter{Exclude: []string{"order-*", "loop/*"}}, "shop/refund"),
		Entry("without a folder", scenarios.Filter{Exclude: []string{"scenarios"}}, "loop/golden", "shop/refund"),
		Entry("all parts", scenarios.Filter{Keyword: "o", Tags: []string{"slow"}, Files: []string{"scenarios"}, Exclude: []string{"loop/*"}}, "order-late"),
		Entry("nothing", scenarios.Filter{Keyword: "golden and slow"}),
	)

	DescribeTable("refuses a part that nothing satisfies",
		func(filter scenarios.Filter, want string) {
			kept, found := scenarios.Select(set, filter)
			Expect(kept).To(BeEmpty())
			Expect(found.Error()).To(Equal(want))
		},
		Entry("a tag", scenarios.Filter{Tags: []string{"fast", "golde"}},
			`--tag golde: no selected scenario has the tag; choose from fast, golden, money, slow (did you mean "golden"?)`),
		Entry("a word", scenarios.Filter{Keyword: "order or refnud"},
			`-k order or refnud: "refnud" is in no name and no tag of the selected scenarios (did you mean "refund"?)`),
		Entry("an invalid expression", scenarios.Filter{Keyword: "order late"},
			`-k order late: expected "and", "or" or ")", got "late" (at character 7); write for example: refund and not (slow or live)`),
		Entry("a file", scenarios.Filter{Files: []string{"scenarios/oder.yaml"}},
			`--file scenarios/oder.yaml: no selected scenario is in such a file (did you mean "scenarios/order.yaml"?)`),
		Entry("a malformed pattern", scenarios.Filter{Files: []string{"["}}, `--file [: no selected scenario is in such a file`),
		Entry("an excluded name", scenarios.Filter{Exclude: []string{"order-lat"}},
			`--exclude order-lat: no selected scenario has that name or file (did you mean "order-late"?)`),
	)

	It("reports all that is wrong at once", func() {
		_, found := scenarios.Select(set, scenarios.Filter{Keyword: "(", Tags: []string{"x"}, Files: []string{"y"}, Exclude: []string{"z"}})
		Expect(found).To(HaveLen(4))
	})

	It("names the lack of any tag", func() {
		_, found := scenarios.Select(set[2:3], scenarios.Filter{Tags: []string{"slow"}})
		Expect(found.Error()).To(Equal("--tag slow: no selected scenario has any tags"))
	})
})
