package wire

import (
	"net/http"
	"strconv"
	"time"
)

// The limits that answers report: those of a large account, so that no client slows down.
const (
	limitRequests = 10_000    // in a minute
	limitTokens   = 2_000_000 // in a minute
)

var limitRequestsValue, limitTokensValue = []string{strconv.Itoa(limitRequests)}, []string{strconv.Itoa(limitTokens)}

// RateLimit is what an answer reports about the rate limits. It does not depend on earlier calls, so
// that it is the same in every run.
type RateLimit struct {
	// Tokens are those of the call.
	Tokens int
	// Now is the time of the answer.
	Now time.Time
	// Exceeded is true for an error because of a rate limit, Wait the time until a retry.
	Exceeded bool
	Wait     time.Duration
}

// remaining returns the requests and tokens that are left, and the times until all are available again.
func (l RateLimit) remaining() (requests, tokens int, requestsReset, tokensReset time.Duration) {
	used := min(max(l.Tokens, 0), limitTokens)
	tokensReset = (time.Minute * time.Duration(used) / limitTokens).Round(time.Millisecond)
	if l.Exceeded {
		return 0, limitTokens - used, max(l.Wait, time.Second), tokensReset
	}
	return limitRequests - 1, limitTokens - used, time.Minute / limitRequests, tokensReset
}

// openAIRateLimit adds the headers of
// https://platform.openai.com/docs/guides/rate-limits#rate-limits-in-headers.
func openAIRateLimit(h http.Header, l RateLimit) {
	requests, tokens, requestsReset, tokensReset := l.remaining()
	h["X-Ratelimit-Limit-Requests"] = limitRequestsValue
	h["X-Ratelimit-Limit-Tokens"] = limitTokensValue
	left := []string{strconv.Itoa(requests), strconv.Itoa(tokens), requestsReset.String(), tokensReset.String()}
	h["X-Ratelimit-Remaining-Requests"] = left[:1:1]
	h["X-Ratelimit-Remaining-Tokens"] = left[1:2:2]
	h["X-Ratelimit-Reset-Requests"] = left[2:3:3]
	h["X-Ratelimit-Reset-Tokens"] = left[3:]
}

// anthropicRateLimit adds the headers of https://docs.anthropic.com/en/api/rate-limits#response-headers.
// The remaining tokens are rounded to thousands.
func anthropicRateLimit(h http.Header, l RateLimit) {
	requests, tokens, requestsReset, tokensReset := l.remaining()
	tokens = (tokens + 500) / 1000 * 1000
	for _, x := range []struct {
		what             string
		limit, remaining int
		reset            time.Duration
	}{
		{"Requests", limitRequests, requests, requestsReset},
		{"Tokens", limitTokens, tokens, tokensReset},
		{"Input-Tokens", limitTokens, tokens, tokensReset},
		{"Output-Tokens", limitTokens, tokens, tokensReset},
	} {
		h.Set("Anthropic-Ratelimit-"+x.what+"-Limit", strconv.Itoa(x.limit))
		h.Set("Anthropic-Ratelimit-"+x.what+"-Remaining", strconv.Itoa(x.remaining))
		h.Set("Anthropic-Ratelimit-"+x.what+"-Reset", l.Now.Add(x.reset).UTC().Format(time.RFC3339))
	}
}
