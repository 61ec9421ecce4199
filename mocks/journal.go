package mocks

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/llm"
)

// Record describes one exchange.
type Record struct {
	N int // from 1, in order of arrival
	// Line is the script line that answered, such as "replies[0]"; empty if none.
	Line    string
	Attempt int // of that line, from 1
	Status  int // HTTP status; 0 where no head was sent
	// Fault is the kind of the fault that was planned for this exchange, or several joined
	// with "+"; Fired reports whether the first frame that shows them went out.
	Fault string
	Fired bool
	// Delivered is true when the whole planned answer was handed over. HungUp is
	// true when the client left before.
	Delivered, HungUp bool
	Frames, Bytes     int // handed over; bytes are those of the body
	Usage             *llm.Usage
	// Problem explains why the request was unexpected or invalid.
	Problem string
	// Retry is true where a client that is only observed repeated a request that failed.
	Retry bool
}

// Report summarises the exchanges of a trial. With EngineOptions.Keep, the oldest exchanges
// and the newest findings are missing.
type Report struct {
	Exchanges []Record
	// Unused are the lines that were never, or not often enough, delivered.
	Unused []string
	// Unexpected are the calls that no line answered, and the requests to paths that no
	// provider has here.
	Unexpected []string
	// Invalid are the requests that a provider would have refused.
	Invalid []string
	// Unfired are the planned faults that fired less often than planned.
	Unfired []string
	// Calls counts all exchanges, kept or not.
	Calls int
}

// findingKind is which list of the report a finding belongs to.
type findingKind uint8

const (
	unexpected findingKind = iota
	invalid
)

// journal keeps the records of the last exchanges.
type journal struct {
	keep     int
	calls    int
	records  []Record // a ring once there are keep of them
	findings [2][]string
	strays   map[string]bool // requests without an endpoint that are among the findings
}

// add gives x its number and a slot.
func (j *journal) add(x *Exchange) {
	j.calls++
	x.record.N = j.calls
	x.slot = j.calls - 1
	if j.keep > 0 {
		x.slot %= j.keep
	}
	if x.slot < len(j.records) {
		j.records[x.slot] = x.record
	} else {
		j.records = append(j.records, x.record)
	}
}

// put updates the record of x, unless a later one has its slot.
func (j *journal) put(x *Exchange) {
	if j.records[x.slot].N == x.record.N {
		j.records[x.slot] = x.record
	}
}

func (j *journal) find(kind findingKind, n int, text string) {
	if j.keep == 0 || len(j.findings[kind]) < j.keep {
		j.findings[kind] = append(j.findings[kind], fmt.Sprintf("call %d: %s", n, text))
	}
}

// stray adds a request for which there is no endpoint, once however often it comes.
func (j *journal) stray(text string) {
	list := &j.findings[unexpected]
	if j.strays[text] || j.keep > 0 && len(*list) >= j.keep {
		return
	}
	if j.strays == nil {
		j.strays = map[string]bool{}
	}
	j.strays[text] = true
	*list = append(*list, text)
}

// ordered returns a copy of the records in order of arrival.
func (j *journal) ordered() []Record {
	oldest := 0
	if j.keep > 0 && j.calls > j.keep {
		oldest = j.calls % j.keep
	}
	return append(append([]Record(nil), j.records[oldest:]...), j.records[:oldest]...)
}

// undelivered returns a hint for a line whose fault fired and whose answer was never
// delivered.
func (s *lineState) undelivered() string {
	if s.used > 0 || s.fired == 0 {
		return ""
	}
	return "; its fault was injected, but no request after it took its answer: the agent did not try again"
}

// Report returns a summary of what has happened so far. It is complete when no exchange
// is under way; see Server.Detach.
func (e *Engine) Report() Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Report{
		Exchanges:  e.journal.ordered(),
		Unexpected: append([]string(nil), e.journal.findings[unexpected]...),
		Invalid:    append([]string(nil), e.journal.findings[invalid]...),
		Calls:      e.journal.calls,
	}
	for i, s := range e.lines {
		l := &e.program.lines[i]
		switch {
		case e.program.sequence && s.used < l.limit:
			r.Unused = append(r.Unused, fmt.Sprintf("%s: %d of %d left%s", l.name, l.limit-s.used, l.limit, s.undelivered()))
		case !e.program.sequence && s.used == 0 && !l.Optional:
			r.Unused = append(r.Unused, l.name+": never used"+s.undelivered())
		}
		if planned := l.Line.faultTimes(); s.fired < planned {
			r.Unfired = append(r.Unfired, fmt.Sprintf("%s: %s (fired %d of %d)", l.name, l.Fault.Kind, s.fired, planned))
		}
	}
	for _, in := range e.injections {
		if text, ok := in.unfired(); ok {
			r.Unfired = append(r.Unfired, text)
		}
	}
	return r
}
