// Package price turns token usage into money with a dated price table.
package price

// Quote is what one model costs, with everything that is needed to compute a
// cost later without the table. Prices are per million tokens in Currency.
type Quote struct {
	Model      string  `json:"model"`
	Provider   string  `json:"provider"`
	Currency   string  `json:"currency"` // of the prices: "USD" or "EUR"
	Input      float64 `json:"input"`
	CachedIn   float64 `json:"cached_input"`
	CacheWrite float64 `json:"cache_write"`
	Output     float64 `json:"output"`
	// Date is when the price was read (YYYY-MM-DD), Source where.
	Date   string `json:"date"`
	Source string `json:"source"`
	// EURPerUSD is the exchange rate of RateDate.
	EURPerUSD float64 `json:"eur_per_usd"`
	RateDate  string  `json:"rate_date"`
}
