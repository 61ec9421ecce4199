package openai

// For the tables that test decisions alone.
var (
	Next       = RetryPolicy.next
	RetryAfter = retryAfter
	KindOf     = kindOf
	Defaults   = RetryPolicy.withDefaults
)
