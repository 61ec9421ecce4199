package loop

import (
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Past is the part of a run that earlier processes recorded.
type Past struct {
	// Segments has the record of each process, in order.
	Segments []Segment
	// Elapsed is the time that they took.
	Elapsed time.Duration
}

// Segment is the record of one process.
type Segment struct {
	Entries []Entry
	// Checks are the checks after completions, in order.
	Checks []Check
	// CutOff is true if the process was killed in a call, which has no entry.
	CutOff bool
	// Ended is true if the process recorded the end of the run; otherwise it was killed.
	Ended bool
	// Session is the id of the session that began in a call without an entry; usually empty.
	Session string
	// Answer is the message of a person for the next segment; usually empty.
	Answer string
}

// tap is a Sink that can be shut.
type tap struct {
	to   event.Sink
	shut bool
}

// Emit implements event.Sink.
func (t *tap) Emit(e event.Event) {
	if !t.shut {
		t.to.Emit(e)
	}
}

// replay repeats the decisions of earlier processes from their records, so that this run continues with
// their counters, their budget and the next prompt. It returns the ending of a run that was complete
// before its process could record that.
func (r *runner) replay(p *Past) *run.Ending {
	if p == nil {
		return nil
	}
	r.events.shut = true
	defer func() { r.events.shut = false }()
	for _, s := range p.Segments {
		var end *run.Ending
		r.recorded = s.Checks
		for _, e := range s.Entries {
			end = r.repeat(e)
		}
		if s.CutOff {
			r.cutOff++
		}
		if end = r.resume(s, end); end != nil {
			return end
		}
	}
	return nil
}

// repeat processes a recorded iteration.
func (r *runner) repeat(e Entry) *run.Ending {
	r.breaker.cool() // the process has waited
	_ = r.Reserve()  // a cap that is reached ends the run later
	reply, err := e.outcome()
	r.Account(r.set.Model, reply, err)
	if !e.Continued {
		r.session.lose()
	}
	if r.session.begun = ""; e.Session != nil {
		r.session.begun = e.Session.ID
	}
	r.session.next(reply, err)
	if err != nil {
		r.dialogue.repeat(e.Prompt)
	}
	r.record(e)
	return r.judge(e.N, reply, err)
}

// outcome returns the reply or the error of the recorded call.
func (e *Entry) outcome() (llm.Reply, error) {
	switch {
	case e.Error == "":
		return llm.Reply{
			Text: e.Answer, Finish: e.Finish, Model: e.Model, Usage: e.Usage, ReportedUSD: e.ReportedUSD,
			Denials: e.Denials, Session: e.Session,
		}, nil
	case e.ErrorKind == "":
		return llm.Reply{}, errors.New(e.Error)
	}
	return llm.Reply{}, &llm.Error{Kind: e.ErrorKind, Message: e.Error, Partial: e.Answer, Usage: e.Usage}
}

// resume prepares the next call after a segment. It returns the ending if the run must not continue: the
// work is done, or the process was killed after its last decision.
func (r *runner) resume(s Segment, end *run.Ending) *run.Ending {
	if end != nil && (end.Status == StatusDone || !s.Ended) {
		return end
	}
	r.result.Completed = false
	if !s.Ended {
		r.afterKill(s)
		return nil
	}
	r.failed, r.session.failed, r.denied, r.failing = 0, 0, 0, 0
	r.errors, r.same = run.Repeats{}, run.Repeats{}
	r.stalled = newProgress(r.set) // with the files as they are when the run continues
	r.breaker.succeed()
	switch {
	case s.Answer != "":
		r.dialogue.tell(r.result.Text, fmt.Sprintf(noteAnswered.in(r.set.Language), r.result.Summary, s.Answer))
	case end != nil && len(s.Entries) > 0 && s.Entries[len(s.Entries)-1].Error == "":
		r.dialogue.proceed(r.result.Text, "")
	}
	return nil
}

// afterKill continues the session of a call that may have been cut off.
func (r *runner) afterKill(s Segment) {
	if s.Session != "" && !r.session.off {
		r.session.current = &llm.Session{ID: s.Session}
	}
	if r.session.current != nil {
		r.dialogue.repeat(r.prompt())
	}
}
