package cli

// For specs.
var (
	ResetAt    = resetAt
	RetryAfter = retryAfter
)
