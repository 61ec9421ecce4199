package expect_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

func count(text string) expect.Count {
	GinkgoHelper()
	var c expect.Count
	Expect(yaml.Load([]byte(text), &c)).To(Succeed())
	return c
}

var _ = Describe("Count", func() {
	DescribeTable("is a number or a mapping, and has a description",
		func(text, words string, allowed, refused []int) {
			c := count(text)
			Expect(c.String()).To(Equal(words))
			for _, n := range allowed {
				Expect(c.Allows(n)).To(BeTrue(), "%d", n)
			}
			for _, n := range refused {
				Expect(c.Allows(n)).To(BeFalse(), "%d", n)
			}
		},
		Entry("a number", "3", "exactly 3", []int{3}, []int{2, 4}),
		Entry("zero", "0", "exactly 0", []int{0}, []int{1}),
		Entry("exactly", "{exactly: 3}", "exactly 3", []int{3}, []int{2, 4}),
		Entry("at least", "{at_least: 2}", "at least 2", []int{2, 99}, []int{1}),
		Entry("at most", "{at_most: 2}", "at most 2", []int{0, 2}, []int{3}),
		Entry("both", "{at_least: 2, at_most: 3}", "at least 2 and at most 3", []int{2, 3}, []int{1, 4}),
	)

	DescribeTable("refuses what nothing can meet, and keys that it does not know",
		func(text string) {
			var c expect.Count
			Expect(yaml.Load([]byte(text), &c)).ToNot(Succeed())
		},
		Entry("a negative number", "-1"), Entry("a fraction", "1.5"), Entry("text", "many"), Entry("a list", "[1]"),
		Entry("nothing", "{}"), Entry("two ways", "{exactly: 1, at_most: 2}"), Entry("an empty range", "{at_least: 2, at_most: 1}"),
		Entry("an unknown key", "{at_lest: 1}"),
	)

	It("allows what lies in its range and nothing else", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			lo := rapid.IntRange(0, 50).Draw(t, "lo")
			hi := rapid.IntRange(lo, 100).Draw(t, "hi")
			n := rapid.IntRange(0, 120).Draw(t, "n")
			c := expect.Count{AtLeast: &lo, AtMost: &hi}
			if c.Allows(n) != (lo <= n && n <= hi) {
				t.Fatalf("%s allows %d: %t", c, n, c.Allows(n))
			}
		})
	})
})

var _ = Describe("Expect", func() {
	It("survives the recording with every field", func() {
		limit := expect.Count{AtLeast: new(1), AtMost: new(2)}
		d, m := new(quantity.Duration(1500)), &quantity.Money{Amount: 0.5, Currency: quantity.USD}
		all := expect.Expect{
			Status: "done", ExitCode: new(0), Calls: &limit, CallsBy: map[string]expect.Count{"x": {Exactly: new(0)}},
			Retries: &limit, Iterations: &limit, Tokens: &limit, Cost: &expect.Cost{AtLeast: m, AtMost: m},
			Latency: &expect.Latency{Mean: d, P50: d, P95: d, Max: d}, Duration: d, That: []string{"true"}, Allow: []string{expect.UnusedLine},
		}
		text, err := json.Marshal(all)
		Expect(err).ToNot(HaveOccurred())
		var again expect.Expect
		Expect(json.Unmarshal(text, &again)).To(Succeed())
		Expect(again).To(Equal(all))
	})
})
