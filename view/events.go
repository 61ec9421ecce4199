package view

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// heartbeat is the longest time without an event or a comment, by which both sides notice that the other is
// gone, and patience that of one write: a reader that is slower has to connect again.
const (
	heartbeat = 15 * time.Second
	patience  = 30 * time.Second
)

// mark is a place in the changes of a run in progress.
type mark struct {
	of      int64 // when the reading of the recording began
	version int
}

// String returns the form that parseMark reads.
func (m mark) String() string { return fmt.Sprintf("%d-%d", m.of, m.version) }

// parseMark returns the zero mark for other texts.
func parseMark(text string) (m mark) {
	if _, err := fmt.Sscanf(text, "%d-%d", &m.of, &m.version); err != nil {
		return mark{}
	}
	return m
}

// doneEvent leads to a page; an empty Link is the same page again.
type doneEvent struct {
	Link string `json:"link"`
}

// events sends the progress of a run as server-sent events: "progress" with the counters, "result" with a
// scenario, and "done" with the address of the page to go to. The id of a result is its mark; a client that
// connects again (Last-Event-ID) receives what changed since. Each client has its own loop, and holds up nobody.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	folder := s.liveFolder(id)
	if folder == "" {
		s.fail(w, notFound("there is no run in progress with the id %.100q", id))
		return
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	w.Header().Set("Content-Type", "text/event-stream")
	stream := eventStream{w: w, control: http.NewResponseController(w), clock: s.opts.Clock}
	o := s.open(folder)
	last, since := progress{}, parseMark(r.Header.Get("Last-Event-ID"))
	for stream.err == nil {
		if to := s.finished(r.Context(), o); to != "" {
			stream.send("done", doneEvent{to}, mark{})
			return
		}
		p, changed, now, err := o.read(r.Context(), id, since)
		switch {
		case err != nil:
			stream.send("problem", err.Error(), mark{})
			return
		case since.of != 0 && since.of != now.of: // another run, or another server
			stream.send("done", doneEvent{runLink(id)}, mark{})
			return
		}
		since = now
		if p != last {
			stream.send("progress", p, mark{})
			last = p
		}
		for i := range changed {
			if changed[i].index < scenariosShown || changed[i].Verdict() != gate.Pass {
				stream.send("result", resultOf(&changed[i]), mark{now.of, changed[i].version})
			}
		}
		if p.State != running {
			stream.send("done", doneEvent{s.finished(r.Context(), o)}, mark{}) // it may have been finished since
			return
		}
		stream.keepAlive()
		if s.opts.Clock.Sleep(r.Context(), s.opts.Poll) != nil {
			return
		}
	}
}

// result is a scenario in a stream of events; the page has a row for it, or gets one.
type result struct {
	Index   int          `json:"index"`
	Name    string       `json:"name"`
	Link    string       `json:"link"`
	Verdict gate.Verdict `json:"verdict"`
	Sign    string       `json:"sign"`
	Trials  string       `json:"trials"`
	Finding string       `json:"finding"`
}

func resultOf(l *liveScenario) result {
	return result{
		l.index, sanitize.Line(l.Name, maxTitle), l.Link, l.Verdict(), signs[l.Verdict()], l.Counts.String(), sanitize.Line(l.Finding, maxSample),
	}
}

// eventStream writes server-sent events until the first error.
type eventStream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	clock   clock.Clock
	sent    time.Time
	err     error
}

// send sends an event; at is its id, if any.
func (e *eventStream) send(kind string, data any, at mark) {
	text, err := json.Marshal(data) // one line: JSON escapes line breaks
	if err != nil {
		e.err = err
		return
	}
	if at != (mark{}) {
		kind += "\nid: " + at.String()
	}
	e.write("event: " + kind + "\ndata: " + string(text))
}

// keepAlive sends a comment if nothing else was sent for a while.
func (e *eventStream) keepAlive() {
	if e.clock.Now().Sub(e.sent) >= heartbeat {
		e.write(":")
	}
}

func (e *eventStream) write(block string) {
	if e.err != nil {
		return
	}
	e.sent = e.clock.Now()
	_ = e.control.SetWriteDeadline(e.sent.Add(patience)) // where it is not supported, writes do not block
	if _, e.err = fmt.Fprint(e.w, block, "\n\n"); e.err == nil {
		e.err = e.control.Flush()
	}
}
