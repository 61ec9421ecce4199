package price_test

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
)

func shipped() *price.Table {
	GinkgoHelper()
	t, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	return t
}

func quote(t *price.Table, model string) price.Quote {
	GinkgoHelper()
	q, ok := t.Quote(model)
	Expect(ok).To(BeTrue(), "no price for "+model)
	return q
}

var _ = Describe("docs/reference/prices.md", func() {
	It("shows a price file that loads", func() {
		page, err := os.ReadFile("../../docs/reference/prices.md")
		Expect(err).NotTo(HaveOccurred())
		_, rest, _ := strings.Cut(string(page), "```yaml\n")
		example, _, _ := strings.Cut(rest, "```")
		table, err := price.Load("prices.md", []byte(example))
		Expect(err).NotTo(HaveOccurred())
		quote, ok := table.Quote("house-model-latest")
		Expect(ok).To(BeTrue())
		Expect([]float64{quote.Input, quote.CachedIn, quote.CacheWrite, quote.Output}).To(Equal([]float64{0.8, 0.1, 1, 3.2}))
		Expect(quote.Currency).To(Equal("EUR"))
	})
})

var _ = Describe("the shipped table", Label("H-04"), func() {
	It("has at least 25 models of four providers, each dated and with a source", func() {
		t := shipped()
		providers := map[string]int{}
		for _, model := range t.Models() {
			q := quote(t, model)
			providers[q.Provider]++
			Expect(q.Model).To(Equal(model))
			Expect(q.Source).To(HavePrefix("https://"), model)
			for _, date := range []string{q.Date, q.RateDate} {
				day, err := time.Parse(time.DateOnly, date)
				Expect(err).NotTo(HaveOccurred(), model)
				Expect(day.Format(time.DateOnly) <= t.Date).To(BeTrue(), model+" is dated after the table")
			}
			Expect(q.Input).To(BeNumerically(">", 0), model)
			Expect(q.CachedIn).To(And(BeNumerically(">", 0), BeNumerically("<=", q.Input)), model)
			Expect(q.CacheWrite).To(BeNumerically(">=", q.Input), model)
			Expect(q.Output).To(BeNumerically(">=", q.Input), model)
			Expect(q.EURPerUSD).To(BeNumerically("~", 0.85, 0.15), model)
		}
		Expect(len(t.Models())).To(BeNumerically(">=", 25))
		Expect(providers).To(HaveLen(4))
		Expect(providers).To(And(HaveKey("openai"), HaveKey("anthropic"), HaveKey("google"), HaveKey("mistral")))
	})

	It("knows gpt-4.1-mini", func() {
		q := quote(shipped(), "gpt-4.1-mini")
		Expect([]float64{q.Input, q.CachedIn, q.Output}).To(Equal([]float64{0.40, 0.10, 1.60}))
		Expect(q.CacheWrite).To(Equal(q.Input), "no charge of its own: written tokens are input")
	})

	DescribeTable("resolves other names of a model",
		func(name, model string) {
			Expect(quote(shipped(), name).Model).To(Equal(model))
		},
		Entry("dated snapshot", "gpt-4.1-mini-2025-04-14", "gpt-4.1-mini"),
		Entry("dated without hyphens", "claude-haiku-4-5-20251001", "claude-haiku-4-5"),
		Entry("alias", "gemini-3-flash", "gemini-3-flash-preview"),
		Entry("provider in front", "openai/gpt-5", "gpt-5"),
		Entry("provider in front and dated", "openai/gpt-5-2025-08-07", "gpt-5"),
		Entry("resource name", "models/gemini-2.5-pro", "gemini-2.5-pro"),
		Entry("a snapshot with a price of its own", "gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
	)

	DescribeTable("reports an unknown price",
		func(name string) {
			q, ok := shipped().Quote(name)
			Expect(ok).To(BeFalse())
			Expect(q).To(BeZero())
		},
		Entry("an unknown model", "gpt-4.1-maxi"),
		Entry("nothing", ""),
		Entry("another seller of the same model", "azure/gpt-4.1"),
		Entry("a wrong provider", "mistral/gpt-4.1"),
		Entry("a variant", "gpt-4.1-mini-batch"),
	)

	DescribeTable("reports whether two names mean one model",
		func(a, b string, same bool) { Expect(price.SameModel(a, b)).To(Equal(same)) },
		Entry("a listed model", "gpt-5", "gpt-5", true),
		Entry("a dated model with its provider", "gpt-4.1-mini-2025-04-14", "openai/gpt-4.1-mini", true),
		Entry("a smaller variant of a model", "gpt-4.1-mini", "gpt-4.1", false),
		Entry("no model", "gpt-4.1", "", false),
	)

	It("suggests the nearest name", func() {
		Expect(shipped().Nearest("gpt-4.1-mimi")).To(Equal("gpt-4.1-mini"))
	})
})

var _ = Describe("Quote.Cost", Label("H-04"), func() {
	q := price.Quote{Currency: "USD", Input: 3, CachedIn: 0.3, CacheWrite: 3.75, Output: 15, EURPerUSD: 0.5}

	DescribeTable("is usage times price per million",
		func(u llm.Usage, usd float64) {
			cost := q.Cost(u)
			Expect(cost.Currency).To(Equal(quantity.USD))
			Expect(cost.Amount).To(BeNumerically("~", usd, 1e-12))
			eur, ok := cost.In(quantity.EUR, q.EURPerUSD)
			Expect(ok).To(BeTrue())
			Expect(eur).To(BeNumerically("~", usd/2, 1e-12))
		},
		Entry("input: 1000 x 3 / 10^6", llm.Usage{Input: 1000}, 0.003),
		Entry("cached: 1000 x 0.3 / 10^6", llm.Usage{CachedInput: 1000}, 0.0003),
		Entry("written: 1000 x 3.75 / 10^6", llm.Usage{CacheWrite: 1000}, 0.00375),
		Entry("output: 1000 x 15 / 10^6", llm.Usage{Output: 1000}, 0.015),
		Entry("reasoning is part of the output", llm.Usage{Output: 1000, Reasoning: 900}, 0.015),
		Entry("all: 0.003 + 0.0003 + 0.00375 + 0.015", llm.Usage{Input: 1000, CachedInput: 1000, CacheWrite: 1000, Output: 1000}, 0.02205),
		Entry("nothing", llm.Usage{}, 0.0),
		Entry("a negative count earns nothing", llm.Usage{Input: -1000, CachedInput: -1, CacheWrite: -1, Output: -1}, 0.0),
	)

	It("grows with each count", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			n := func(label string) int { return rapid.IntRange(0, 1e6).Draw(rt, label) }
			u := llm.Usage{Input: n("input"), CachedInput: n("cached"), CacheWrite: n("written"), Output: n("output")}
			more := u
			*rapid.SampledFrom([]*int{&more.Input, &more.CachedInput, &more.CacheWrite, &more.Output}).Draw(rt, "which") += 1000
			if q.Cost(more).Amount <= q.Cost(u).Amount {
				rt.Fatalf("%+v costs no more than %+v", more, u)
			}
		})
	})

	It("survives JSON", func() {
		want := quote(shipped(), "claude-opus-5")
		text, err := json.Marshal(want)
		Expect(err).NotTo(HaveOccurred())
		var got price.Quote
		Expect(json.Unmarshal(text, &got)).To(Succeed())
		Expect(got).To(Equal(want))
	})
})

var _ = Describe("a user's table", func() {
	It("overrides and adds models, and leaves the shipped table alone", func() {
		t, err := price.Load("mine.yaml", []byte(`
lists:
  - provider: me
    source: our contract
    date: "2026-11-01"
    currency: EUR
    models:
      gpt-4.1-mini: {input: 0.30, output: 1.20}
      local: {input: 0, output: 0, aliases: [gpt-5.6]}
      gemini-3-flash: {input: 1, output: 2}
`))
		Expect(err).NotTo(HaveOccurred())
		q := quote(t, "gpt-4.1-mini-2025-04-14")
		Expect(q).To(Equal(price.Quote{
			Model: "gpt-4.1-mini", Provider: "me", Currency: "EUR", Input: 0.30, CachedIn: 0.30, CacheWrite: 0.30,
			Output: 1.20, Date: "2026-11-01", Source: "our contract",
			EURPerUSD: quote(shipped(), "gpt-5").EURPerUSD, RateDate: "2026-05-08",
		}))
		Expect(quote(t, "gpt-5.6").Model).To(Equal("local"))
		Expect(quote(t, "gemini-3-flash").Provider).To(Equal("me"), "a shipped alias that the user prices himself")
		Expect(quote(t, "gpt-5").Provider).To(Equal("openai"))
		Expect(quote(shipped(), "gpt-4.1-mini").Provider).To(Equal("openai"))
		Expect(quote(shipped(), "gpt-5.6").Model).To(Equal("gpt-5.6-sol"))
	})

	It("may change the rate for all models", func() {
		t, err := price.Load("mine.yaml", []byte("rate: {usd_per_eur: 1.25, date: \"2026-11-02\", source: me}\ncompiled: \"2026-11-03\"\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Date).To(Equal("2026-11-03"))
		Expect(quote(t, "gpt-5").EURPerUSD).To(Equal(0.8)) // 1 / 1.25
		Expect(quote(t, "gpt-5").RateDate).To(Equal("2026-11-02"))
	})

	DescribeTable("is refused with the reason",
		func(text string, want ...string) {
			_, err := price.Load("mine.yaml", []byte(text))
			Expect(err).To(HaveOccurred())
			for _, w := range want {
				Expect(err.Error()).To(ContainSubstring(w))
			}
		},
		Entry("an unknown key", "list: []", "mine.yaml:1:1", "lists"),
		Entry("a missing price", `lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: 1}}}]`, "output"),
		Entry("a negative price", `lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: -1, output: 1}}}]`, "mine.yaml:1:"),
		Entry("a price that is no number", `lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: .nan, output: 1}}}]`, "mine.yaml"),
		Entry("an infinite price", `lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: .inf, output: 1}}}]`, "mine.yaml"),
		Entry("another currency", `lists: [{provider: p, source: s, currency: GBP, date: "2026-01-01", models: {m: {input: 1, output: 1}}}]`, "USD"),
		Entry("no date", `lists: [{provider: p, source: s, date: yesterday, models: {m: {input: 1, output: 1}}}]`, "YYYY-MM-DD"),
		Entry("a model given twice", `lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: 1, output: 1}, n: {input: 1, output: 1, aliases: [m]}}}]`, "m is given twice"),
		Entry("a rate of zero", `rate: {usd_per_eur: 0, date: "2026-01-01", source: s}`, "above 0"),
		Entry("a bad date of the table", "compiled: now", "YYYY-MM-DD"),
	)
})
