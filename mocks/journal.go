package mocks

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Record describes one exchange.
type Record struct {
	N int // from 1, in order of arrival
	// Line of the script that answered, such as "replies[0]"; empty if unmatched.
	Line    string
	Attempt int // at the line, from 1
	Status  int // of HTTP; 0 without a response head
	// Fault is the planned kind of fault, or several joined with "+". Fired reports whether the
	// first frame that shows them was sent.
	Fault string
	Fired bool
	// Delivered is true if the whole planned answer was sent, HungUp if the client left before.
	Delivered, HungUp bool
	Frames, Bytes     int // sent; bytes of the body
	Usage             *llm.Usage
	// Problem explains why the request was unexpected or invalid.
	Problem string
	// Refused is true if the observer refused the request.
	Refused bool
	// Retry is true if an observed client repeated a failed request.
	Retry bool
	// Early is true if the request came before the wait was over that the previous answer asked for.
	Early bool
}

// Report summarises the exchanges of a trial. With EngineOptions.Keep, the oldest exchanges
// and the newest findings are missing.
type Report struct {
	Exchanges []Record
	// Unused has the lines that were delivered less often than planned.
	Unused []string
	// Unexpected has the calls that no line answered, and the requests to unknown paths.
	Unexpected []string
	// Strays has the entries of Unexpected about requests to unknown paths, or with the wrong method.
	Strays []string
	// Invalid has the requests that a provider would have refused.
	Invalid []string
	// Unfired has the faults that fired less often than planned.
	Unfired []string
	// Injected counts how often each injection took effect, by its name.
	Injected map[string]int
	// Warnings has advice about requests that were answered.
	Warnings []string
	// UnofferedTools has the entries of Warnings about scripted calls of tools that the request did not offer.
	UnofferedTools []string
	// Calls counts all exchanges, including the ones missing from Exchanges.
	Calls int
	// Storage has the requests about files and batches, which are not calls, of a script that has faults for them.
	Storage []StorageRecord
	// Stored has the kinds of all requests about files and batches, such as "POST /v1/files", in order.
	Stored []string
}

// findingKind is the list of the report for a finding.
type findingKind uint8

const (
	unexpected findingKind = iota
	invalid
	warned
	unoffered
)

// journal keeps the records of the last exchanges.
type journal struct {
	keep     int
	calls    int
	records  []Record // a ring once there are keep of them
	findings [4][]string
	once     map[string]bool // keys of findings that are not repeated; that of a request to a wrong path is its text
}

// enter adds x to the journal, and reports whether the client has ignored a wait. The requests of a batch do not wait.
func (e *Engine) enter(x *Exchange) {
	if !inBatch(x.ctx) && !e.inParallel(x) {
		x.record.Early = !e.waitUntil.IsZero() && e.opts.Clock.Now().Before(e.waitUntil)
		e.waitUntil = time.Time{}
	}
	e.journal.add(x)
}

// parallel is the time after an error within which another request may have been sent before the error arrived.
const parallel = 100 * time.Millisecond

// inParallel reports whether an observed client probably sent x before it saw the error that asked it to wait. A client that
// is not observed sends one request at a time.
func (e *Engine) inParallel(x *Exchange) bool {
	return e.opts.Observer != nil && !x.record.Retry && e.opts.Clock.Now().Before(e.waitFrom.Add(parallel))
}

// askToWait notes the wait that an error asks for.
func (e *Engine) askToWait(x *Exchange, f *wire.Frame) {
	if until := e.waitEnd(f); !until.IsZero() && !inBatch(x.ctx) {
		e.waitFrom, e.waitUntil = e.opts.Clock.Now(), until
	}
}

// waitEnd returns the end of the wait that an error asks for, in its header or in its body, and that begins now; zero
// without one.
func (e *Engine) waitEnd(f *wire.Frame) (until time.Time) {
	if f.Status < http.StatusBadRequest {
		return until
	}
	if wait := wire.ReadError(f.Status, f.Header, f.Data).RetryAfter; wait > 0 {
		until = e.opts.Clock.Now().Add(wait)
	}
	return until
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

// stray adds a finding about a request to a wrong path, once for repeated requests.
func (j *journal) stray(kind findingKind, text string) { j.findOnce(kind, text, text) }

// findOnce adds a finding unless there is one with the key.
func (j *journal) findOnce(kind findingKind, key, text string) {
	list := &j.findings[kind]
	if j.once[key] || j.keep > 0 && len(*list) >= j.keep {
		return
	}
	if j.once == nil {
		j.once = map[string]bool{}
	}
	j.once[key] = true
	*list = append(*list, text)
}

// ordered returns the records in order of arrival.
func (j *journal) ordered() []Record {
	oldest := 0
	if j.keep > 0 && j.calls > j.keep {
		oldest = j.calls % j.keep
	}
	return slices.Concat(j.records[oldest:], j.records[:oldest])
}

// undelivered returns a hint if the fault of a line fired and its answer was never delivered.
func (s *lineState) undelivered() string {
	switch {
	case s.used > 0 || s.fired+s.left == 0:
		return ""
	case s.fired == 0:
		return "; it was requested, but the client left before it had the whole answer"
	case s.fired > 1:
		return fmt.Sprintf("; the agent tried %d times, got its fault each time, and then gave up", s.fired)
	}
	return "; its fault was injected, but no request after it took its answer: the agent did not try again"
}

// Report returns a summary of the exchanges so far. It is complete when no exchange is open; see
// Server.Detach.
func (e *Engine) Report() Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Report{
		Exchanges:      e.journal.ordered(),
		Unexpected:     slices.Clone(e.journal.findings[unexpected]),
		Invalid:        slices.Clone(e.journal.findings[invalid]),
		Warnings:       slices.Concat(e.journal.findings[warned], e.journal.findings[unoffered]),
		UnofferedTools: slices.Clone(e.journal.findings[unoffered]),
		Calls:          e.journal.calls,
		Storage:        e.storageRecords.list(),
		Stored:         slices.Sorted(maps.Keys(e.storageRecords.kinds)),
		Injected:       map[string]int{},
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
	r.Unfired = append(r.Unfired, e.unfiredStored()...)
	for _, text := range r.Unexpected {
		if e.journal.once[text] {
			r.Strays = append(r.Strays, text)
		}
	}
	for _, in := range e.injections {
		if in.fired > 0 {
			r.Injected[in.Name] += in.fired
		}
		if text, ok := in.unfired(); ok {
			r.Unfired = append(r.Unfired, text)
		}
	}
	return r
}
