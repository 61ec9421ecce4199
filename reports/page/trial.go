package page

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// Bounds on what is shown of one trial.
const (
	maxTrial    = 3 << 20 // bytes, after which calls are left out but for the last ones
	lastCalls   = 10
	maxEvents   = 60 // events at one place
	maxListed   = 200
	maxTimeline = 200 // calls in a timeline
)

// renderer executes the templates of the page.
type renderer struct{ out bytes.Buffer }

func (r *renderer) reset() { r.out.Reset() }

func (r *renderer) execute(name string, data any) error {
	return templates().ExecuteTemplate(&r.out, name, data)
}

// view is a trial to render.
type view struct {
	scenario *record.Scenario
	trial    *record.Trial
	facts    *measure.Facts
	findings []gate.Finding
	id       string
	// alone is true if the trial is shown without its scenario.
	alone bool
}

// trialHead is the part above a transcript.
type trialHead struct {
	ID      string
	Link    template.URL
	N       int
	Verdict verdict
	Status  string
	Brief   []string // beside the status, in the folded line
	Facts   []fact
	// Details are the texts of the end of the trial.
	Details  []fact
	Findings []finding
	Timeline template.HTML
	// Talk is nil without a conversation.
	Talk   *talk
	Before []happening
	// Inside is what the block shows when it is opened.
	Inside folded
}

// trial renders the details of a trial, and returns its head.
func (r *renderer) trial(v view) (trialHead, error) {
	steps := v.steps()
	head := v.head(steps)
	if err := r.execute("trial-inside", head); err != nil {
		return head, err
	}
	seen := map[string]bool{}
	left := 0
	for i := range steps.calls {
		if r.out.Len() > maxTrial && i < len(steps.calls)-lastCalls {
			left++
			continue
		}
		if left > 0 {
			if err := r.execute("left", left); err != nil {
				return head, err
			}
			left = 0
		}
		if err := r.execute("call", v.call(i, steps, seen)); err != nil {
			return head, err
		}
	}
	return head, r.execute("trial-end", v.tail())
}

func (v view) head(s steps) trialHead {
	t, run := v.trial, &v.facts.Run
	h := trialHead{
		ID: v.id, Link: link(v.id), N: t.Head.N, Verdict: newVerdict(gate.VerdictOf(v.findings)), Status: line(run.Status, 60),
		Talk: v.talk(), Before: happenings(s.before, v.scenario.RealTime),
	}
	if v.scenario.Trials > 1 || v.alone { // those of a single trial are shown with the scenario
		h.Findings = newFindings(v.findings, nil)
	}
	if v.alone {
		for i, f := range v.findings {
			if at := v.scenario.Where[f.At]; at > 0 {
				h.Findings[i].At += fmt.Sprintf(", line %d", at)
			}
		}
	}
	h.Brief = []string{format.Count(len(t.Calls), "call"), tokens(v.facts) + " tokens", cost(v.facts)}
	if run.DurationKnown {
		h.Brief = append(h.Brief, format.Seconds(run.Duration))
	}
	rounds := "iterations"
	if len(v.facts.Turns) > 0 {
		rounds = "answered turns"
	}
	h.Facts = []fact{
		{"exit code", strconv.Itoa(run.ExitCode)},
		{rounds, strconv.Itoa(run.Iterations)},
		{"failed calls", strconv.Itoa(v.facts.Calls.Failed)},
		{"retries", strconv.Itoa(v.facts.Calls.Retries)},
	}
	if run.Writes > 0 {
		h.Facts = append(h.Facts, fact{"durable writes", strconv.Itoa(run.Writes)})
	}
	h.Facts = append(h.Facts, fact{"seed", strconv.FormatUint(t.Head.Seed, 10)})
	for _, d := range []fact{
		{"Details", run.Details}, {"Summary", run.Summary}, {"Harness error", run.Error}, {"Skipped", run.Skipped},
	} {
		if d.Value != "" && !v.inFindings(d.Value) {
			d.Value = strings.Join(sanitize.Lines(d.Value, 4000), "\n")
			h.Details = append(h.Details, d)
		}
	}
	if p := v.timeline(); p.SVG != nil {
		h.Timeline = doc.Fragment([]doc.Block{p}, 3)
	}
	return h
}

// inFindings reports whether a finding shows a text, such as the stack trace of an agent.
// Evidence may leave out lines in the middle, so the first and the last one decide.
func (v view) inFindings(text string) bool {
	text = strings.TrimSpace(text)
	head, _, _ := strings.Cut(text, "\n")
	tail := text[strings.LastIndexByte(text, '\n')+1:]
	return slices.ContainsFunc(v.findings, func(f gate.Finding) bool {
		shown := f.Message + "\n" + f.Evidence
		return strings.Contains(shown, head) && strings.Contains(shown, tail)
	})
}

// timeline draws the calls over time, if times are known and there are several calls.
func (v view) timeline() doc.Plot {
	if v.scenario.RealTime || len(v.trial.Calls) < 2 {
		return doc.Plot{}
	}
	exchanges, known := v.trial.ByCall()
	var list []plot.Span
	for i := range v.trial.Calls[:min(len(v.trial.Calls), maxTimeline)] {
		c := &v.trial.Calls[i]
		list = append(list, plot.Span{
			N: c.N, Name: line(c.Purpose, 40), Link: string(link(callID(v.id, c.N))), From: c.At, Took: c.Latency,
			Retries: len(c.Retries), Failed: c.Error != nil,
		})
		if known {
			for _, x := range exchanges[i] {
				if x.Fired {
					list[i].Fault = line(x.Fault, 40)
				}
			}
		}
	}
	return plot.Timeline("Calls over time", list)
}

func tokens(f *measure.Facts) string {
	if !f.Tokens.Known {
		return "at least " + format.Number(float64(f.Tokens.Total))
	}
	return format.Number(float64(f.Tokens.Total))
}

func cost(f *measure.Facts) string {
	switch {
	case f.Cost.Known:
		return format.Money(f.Cost.EUR) + " EUR"
	case f.Cost.EUR > 0:
		return "at least " + format.Money(f.Cost.EUR) + " EUR"
	default:
		return "cost unknown"
	}
}

// steps are the calls of a trial with the events between them.
type steps struct {
	calls []step
	// before are the events before the end of the first call, and all events without times.
	before []record.Event
}

type step struct {
	// exchanges is nil if they cannot be assigned to calls.
	exchanges []record.Exchange
	after     []record.Event
}

// steps puts each event behind the last call that had ended. Of calls that ended at the same
// time, the event's own number decides: with most agents it counts their calls.
func (v view) steps() steps {
	t := v.trial
	s := steps{calls: make([]step, len(t.Calls))}
	if exchanges, ok := t.ByCall(); ok {
		for i := range exchanges {
			s.calls[i].exchanges = exchanges[i]
		}
	}
	if v.scenario.RealTime {
		for _, e := range v.others() {
			// Only calls of tools have their place without times.
			if c, ok := event.Read[record.ToolCall](&e.Event); ok && 0 < c.Calls && c.Calls <= len(s.calls) {
				s.calls[c.Calls-1].after = append(s.calls[c.Calls-1].after, e)
			} else {
				s.before = append(s.before, e)
			}
		}
		return s
	}
	ended := func(i int) time.Duration { return t.Calls[i].At + t.Calls[i].Latency }
	at, next := -1, 0 // the call of the previous event, and the first that had not ended
	for _, e := range v.others() {
		for next < len(t.Calls) && ended(next) <= e.At {
			next++
		}
		last := next - 1
		earliest := last
		for earliest > 0 && ended(earliest-1) == ended(last) {
			earliest--
		}
		if at = max(at, min(max(ordinal(&e)-1, earliest), last)); at < 0 {
			s.before = append(s.before, e)
		} else {
			s.calls[at].after = append(s.calls[at].after, e)
		}
	}
	return s
}

// ordinal returns the number of calls before an event: its own number with most agents.
func ordinal(e *record.Event) int {
	if c, ok := event.Read[record.ToolCall](&e.Event); ok {
		return c.Calls
	}
	return e.N
}

// trialTail is the part below a transcript.
type trialTail struct {
	// Final is the text that the agent ended with, unless it is a reply.
	Final     *text
	Exchanges []exchange
	More      int // exchanges beyond those shown
	Script    []fact
}

func (v view) tail() trialTail {
	t := v.trial
	var out trialTail
	if t.End.Text != "" && len(v.facts.Turns) == 0 && !slices.Contains(v.facts.Answers, t.End.Text) {
		final := newText(t.End.Text, nil)
		out.Final = &final
	}
	for _, x := range t.Exchanges[:min(len(t.Exchanges), maxListed)] {
		out.Exchanges = append(out.Exchanges, newExchange(x))
	}
	out.More = len(t.Exchanges) - len(out.Exchanges)
	for _, list := range []struct {
		name  string
		items []string
	}{
		{"lines never used", t.Script.Unused},
		{"calls that no line answered", t.Script.Unexpected},
		{"invalid requests", t.Script.Invalid},
		{"faults that did not fire", t.Script.Unfired},
		{"warnings", t.Script.Warnings},
		{"requests about files and batches", storageRequests(t.Script.Storage)},
	} {
		for i, item := range list.items {
			if i == maxEvents {
				out.Script = append(out.Script, fact{list.name, fmt.Sprintf("and %d more", len(list.items)-i)})
				break
			}
			out.Script = append(out.Script, fact{list.name, line(item, 0)})
		}
	}
	return out
}

// storageRequests describes the requests about files and batches that met a fault, or did not wait.
func storageRequests(all []record.StorageRequest) (texts []string) {
	for _, r := range all {
		text := fmt.Sprintf("%s got %d", r.Request, r.Status)
		switch {
		case r.Fired:
			text += fmt.Sprintf(": %s took effect (%s)", r.Fault, r.Line)
		case r.Fault != "":
			text += fmt.Sprintf(": %s did not take effect (%s)", r.Fault, r.Line)
		}
		if r.Early {
			text += ", before the wait was over that the answer before asked for"
		}
		if r.Early || r.Fault != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
