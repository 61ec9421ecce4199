package record

// ByCall returns the exchanges of each call: one for each attempt, in order. A recording does
// not store the call of an exchange, so ok is false if their numbers do not match, for example
// if other requests overlapped with the agent's calls, or a retry never reached the backend.
func (t *Trial) ByCall() (exchanges [][]Exchange, ok bool) {
	total := 0
	for i := range t.Calls {
		total += 1 + len(t.Calls[i].Retries)
	}
	if total != len(t.Exchanges) {
		return nil, false
	}
	exchanges = make([][]Exchange, len(t.Calls))
	at := 0
	for i := range t.Calls {
		n := 1 + len(t.Calls[i].Retries)
		exchanges[i] = t.Exchanges[at : at+n]
		at += n
	}
	return exchanges, true
}
