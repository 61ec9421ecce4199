package evaluate

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
)

func TestCostInEUR(t *testing.T) {
	g := gomega.NewWithT(t)
	prices, err := price.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cost := costInEUR(prices, "gpt-4.1-mini")
	usd := 2.0
	eur, ok := cost("any", llm.Usage{Output: 1_000_000}, &usd)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(eur).To(gomega.Equal(2*prices.EURPerUSD), "what the backend says itself goes first")
	quote, ok := prices.Quote("gpt-4.1-mini")
	g.Expect(ok).To(gomega.BeTrue())
	want, _ := quote.Cost(llm.Usage{Output: 1_000_000}).In(quantity.EUR, prices.EURPerUSD)
	eur, ok = cost("", llm.Usage{Output: 1_000_000}, nil)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(eur).To(gomega.Equal(want))
	_, ok = cost("no-such-model", llm.Usage{Output: 1}, nil)
	g.Expect(ok).To(gomega.BeFalse())
}
