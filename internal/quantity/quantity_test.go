package quantity_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

func TestUnit(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/quantity")
}

var _ = Describe("Duration", func() {
	DescribeTable("reads Go's duration text",
		func(text string, want time.Duration) {
			var d quantity.Duration
			Expect(d.UnmarshalText([]byte(text))).To(Succeed())
			Expect(d.Std()).To(Equal(want))
		},
		Entry("seconds", "2s", 2*time.Second),
		Entry("several units, with spaces around", " 1h30m ", 90*time.Minute),
		Entry("zero without a unit", "0", time.Duration(0)),
		Entry("milliseconds", "150ms", 150*time.Millisecond),
	)

	DescribeTable("rejects everything else with a hint",
		func(text, message string) {
			d := quantity.Duration(7)
			Expect(d.UnmarshalText([]byte(text))).To(MatchError(ContainSubstring(message)))
			Expect(d).To(Equal(quantity.Duration(7)), "left as it was")
		},
		Entry("nothing", "", `"2s"`), Entry("no unit", "2", `"2" is not a duration`), Entry("negative", "-2s", "negative"),
		Entry("a space within", "2 s", "not a duration"), Entry("too long", "999999999h", "not a duration"),
	)
})

var _ = Describe("Money", func() {
	DescribeTable("reads an amount and a currency",
		func(text string, want quantity.Money) {
			var m quantity.Money
			Expect(m.UnmarshalText([]byte(text))).To(Succeed())
			Expect(m).To(Equal(want))
		},
		Entry("euros", "0.01 EUR", quantity.Money{Amount: 0.01, Currency: quantity.EUR}),
		Entry("dollars, with spaces around", " 5   USD ", quantity.Money{Amount: 5, Currency: quantity.USD}),
		Entry("zero", "0 EUR", quantity.Money{Currency: quantity.EUR}),
	)

	DescribeTable("rejects everything else with a hint",
		func(text string) {
			m := quantity.Money{Amount: 7, Currency: quantity.EUR}
			Expect(m.UnmarshalText([]byte(text))).To(MatchError(ContainSubstring(`"0.01 EUR"`)))
			Expect(m).To(Equal(quantity.Money{Amount: 7, Currency: quantity.EUR}), "left as it was")
		},
		Entry("nothing", ""),
		Entry("no currency", "1"),
		Entry("no amount", "EUR"),
		Entry("an unknown currency", "1 GBP"),
		Entry("a currency in lower case", "1 eur"),
		Entry("negative", "-1 EUR"),
		Entry("not a number", "NaN EUR"),
		Entry("infinite", "Inf EUR"),
		Entry("too large", "2e12 EUR"),
		Entry("no space", "1EUR"),
		Entry("two currencies", "1 EUR EUR"),
	)

	DescribeTable("converts at a rate in EUR for one USD",
		func(m quantity.Money, c quantity.Currency, rate, want float64, ok bool) {
			got, known := m.In(c, rate)
			Expect(known).To(Equal(ok))
			Expect(got).To(BeNumerically("~", want, 1e-12))
		},
		Entry("USD to EUR", quantity.Money{Amount: 10, Currency: quantity.USD}, quantity.EUR, 0.8, 8.0, true),
		Entry("EUR to USD", quantity.Money{Amount: 8, Currency: quantity.EUR}, quantity.USD, 0.8, 10.0, true),
		Entry("the same needs no rate", quantity.Money{Amount: 8, Currency: quantity.EUR}, quantity.EUR, 0.0, 8.0, true),
		Entry("no rate", quantity.Money{Amount: 8, Currency: quantity.EUR}, quantity.USD, 0.0, 0.0, false),
		Entry("a negative rate", quantity.Money{Amount: 8, Currency: quantity.EUR}, quantity.USD, -1.0, 0.0, false),
		Entry("an unknown currency", quantity.Money{Amount: 8, Currency: "GBP"}, quantity.USD, 0.8, 0.0, false),
	)

	It("is zero only when nothing was given", func() {
		Expect(quantity.Money{}.IsZero()).To(BeTrue())
		Expect(quantity.Money{Currency: quantity.EUR}.IsZero()).To(BeFalse())
	})
})

var _ = Describe("Both", func() {
	type both struct {
		D quantity.Duration
		M quantity.Money
	}

	It("are text in JSON and survive a round trip", func() {
		want := both{quantity.Duration(90 * time.Minute), quantity.Money{Amount: 0.01, Currency: quantity.EUR}}
		text, err := json.Marshal(want)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(Equal(`{"D":"1h30m0s","M":"0.01 EUR"}`))
		var got both
		Expect(json.Unmarshal(text, &got)).To(Succeed())
		Expect(got).To(Equal(want))
	})
})

// FuzzText checks that whatever is read can be written and read again as the same.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"2s", "1h30m", "0.01 EUR", "1e3 USD", "NaN EUR", "-1 USD", "", "0x1p4 EUR"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d, d2 quantity.Duration
		if d.UnmarshalText([]byte(text)) == nil {
			if d < 0 {
				t.Errorf("%q is negative", text)
			}
			out, err := d.MarshalText()
			if err != nil || d2.UnmarshalText(out) != nil || d2 != d {
				t.Errorf("%q became %q", text, out)
			}
		}
		var m, m2 quantity.Money
		if m.UnmarshalText([]byte(text)) == nil {
			if !(m.Amount >= 0) {
				t.Errorf("%q is %v", text, m.Amount)
			}
			out, err := m.MarshalText()
			if err != nil || m2.UnmarshalText(out) != nil || m2 != m {
				t.Errorf("%q became %q", text, out)
			}
		}
	})
}
