package price_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// BenchmarkLoad measures the first use of prices in a process (twice: a user's
// table is read on top of the shipped one, which is read once).
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := price.Load("prices.yaml", fixtures.Prices); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkQuoteAndCost resolves a snapshot's name and prices a call.
func BenchmarkQuoteAndCost(b *testing.B) {
	t, err := price.Default()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		q, ok := t.Quote("gpt-4.1-mini-2025-04-14")
		if !ok || q.Cost(llm.Usage{Input: 1000}).Amount == 0 {
			b.Fatal("no cost")
		}
	}
}

// BenchmarkCostFloor is the arithmetic alone.
func BenchmarkCostFloor(b *testing.B) {
	q := price.Quote{Input: 0.4}
	for b.Loop() {
		if q.Cost(llm.Usage{Input: 1000}).Amount == 0 {
			b.Fatal("no cost")
		}
	}
}
