package kind

import (
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// turn is a message to the candidate, with the wait before it and the reply to it.
type turn struct {
	step            session.Step
	what            string
	shown, answered time.Time
	replied         bool
	// waited is the time since the candidate's message before; it contains the calls, which took
	// written, and the pauses between attempts.
	waited, written time.Duration
	calls           int
	notes           []string
}

// turnsOf returns the turns of an interview. A call belongs to the next message that was shown.
func turnsOf(a *audit.Audit) []turn {
	fallbacks := map[int]string{}
	for _, f := range a.Fallbacks {
		fallbacks[f.Message] = f.Rule
	}
	var turns []turn
	var heard time.Time
	calls := a.Calls
	// take moves the calls that began before a time to a turn.
	take := func(t *turn, before time.Time) {
		for len(calls) > 0 && calls[0].At.Before(before) {
			c := calls[0]
			calls = calls[1:]
			t.calls++
			t.written += c.Latency
			switch {
			case c.Repeats > 0:
				t.notes = append(t.notes, fmt.Sprintf("call %d resumed after a crash", c.N))
			case c.Outcome != session.Accepted:
				t.notes = append(t.notes, strings.TrimSpace(fmt.Sprintf("call %d %s %s", c.N, c.Outcome, c.Fault)))
			case c.Trimmed > 0:
				t.notes = append(t.notes, fmt.Sprintf("call %d with a trimmed history", c.N))
			}
		}
	}
	for _, m := range a.Messages {
		if m.Role == llm.User {
			heard = m.At
			if last := len(turns) - 1; last >= 0 && !turns[last].replied {
				turns[last].answered, turns[last].replied = m.At, true
			}
			continue
		}
		t := turn{step: m.Step, what: string(m.Kind), shown: m.At}
		if m.Question >= 0 {
			t.what += fmt.Sprint(" ", m.Question+1)
		}
		// The last message may have been continued without a text: then the wait began with its call.
		if last := len(turns) - 1; last >= 0 && !turns[last].replied && len(calls) > 0 && calls[0].At.Before(m.At) {
			heard = calls[0].At
		}
		take(&t, m.At)
		if !heard.IsZero() && heard.Before(m.At) {
			t.waited = m.At.Sub(heard)
		}
		if rule, ok := fallbacks[m.Seq]; ok {
			t.notes = append(t.notes, "fallback text ("+rule+")")
		}
		turns = append(turns, t)
	}
	if len(calls) > 0 || a.Session.Status.Owes() {
		t := turn{step: a.Session.Step, what: "(owed)"}
		take(&t, a.Session.Updated.Add(time.Hour))
		if a.Session.Limit != "" {
			t.notes = append(t.notes, "limit of "+a.Session.Limit+" reached")
		} else if a.Session.Failed != "" {
			t.notes = append(t.notes, a.Session.Failed)
		}
		turns = append(turns, t)
	}
	return turns
}

// turnSums separates the candidate's time from the service's.
func turnSums(turns []turn) doc.Facts {
	var thinking, written, waited time.Duration
	replies := 0
	for _, t := range turns {
		written += t.written
		waited += t.waited
		if t.replied {
			thinking += t.answered.Sub(t.shown)
			replies++
		}
	}
	seconds := func(d time.Duration) doc.Text { return doc.Line(format.Seconds(d.Seconds())) }
	return doc.Facts{
		{Name: "the candidate thought and wrote", Value: seconds(thinking), Note: doc.Line("for ", format.Count(replies, "answer"))},
		{Name: "the model wrote", Value: seconds(written)},
		{Name: "the candidate waited", Value: seconds(waited), Note: doc.Line("for calls and pauses between attempts")},
	}
}

func turnTable(turns []turn) doc.Table {
	t := doc.Table{Noun: "messages", Columns: doc.Columns(2,
		"step", "message", "shown (UTC)", "waited", "calls", "model", "answered (UTC)", "thought", "notes")}
	for _, x := range turns {
		shown, answered, thought := "–", "–", "–"
		if !x.shown.IsZero() {
			shown = timeText(x.shown)
		}
		if x.replied {
			answered, thought = timeText(x.answered), durationText(x.shown, x.answered)
		}
		t.Rows = append(t.Rows, doc.Cells(stepName(x.step), x.what, shown, format.Seconds(x.waited.Seconds()), x.calls,
			format.Seconds(x.written.Seconds()), answered, thought, doc.Line(doc.Quote(strings.Join(x.notes, "; ")))))
	}
	return t
}
