package price_test

import (
	"testing"

	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// FuzzLoad holds for any file: no panic, and no price below zero.
func FuzzLoad(f *testing.F) {
	f.Add(fixtures.Prices)
	f.Add([]byte(`lists: [{provider: p, source: s, date: "2026-01-01", models: {m: {input: 1, output: 1, aliases: [m]}}}]`))
	f.Add([]byte(`rate: {usd_per_eur: 1, date: "2026-01-01", source: s}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := price.Load("f.yaml", data)
		if err != nil {
			return
		}
		for _, model := range table.Models() {
			q, ok := table.Quote(model)
			if !ok || !(q.Input >= 0 && q.CachedIn >= 0 && q.CacheWrite >= 0 && q.Output >= 0 && q.EURPerUSD > 0) {
				t.Errorf("%q: %+v", model, q)
			}
		}
	})
}
