package capture

// Redacted is the result of Redact.
type Redacted struct {
	Body  []byte
	Cuts  []int
	Kinds map[string]int
}

// Redact gives the specs the redaction of bodies alone.
func Redact(body []byte, stream bool, cuts []int, find finder) Redacted {
	r := redactBody(body, stream, cuts, find)
	return Redacted{r.body, r.cuts, r.kinds}
}
