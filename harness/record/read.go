package record

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// Entry is one part of a recording. Exactly one of the pointers is set.
type Entry struct {
	// Line is the number of the entry's first line, from 1.
	Line     int
	Run      *Run
	Scenario *Scenario
	Trial    *Trial
	Close    *Close
	// Problem is invalid input: a torn last line, a damaged or unknown line, a trial
	// without its end, a missing close line. The rest is still delivered, without trials
	// that have a damaged line, as their measures would be wrong.
	Problem *Problem
}

// ErrEmpty means that a recording has no lines.
var ErrEmpty = errors.New("the recording is empty")

// maxTrial limits the bytes of one trial, and thereby the reader's memory.
const maxTrial = 256 << 20

// Read returns the entries of a recording as they are read from r: first the run, then each
// scenario followed by its trials. Memory is limited by the largest trial. The sequence ends
// with an error if r fails, is not a recording, or has the schema of another version. Hashes
// are not checked; see Verify.
//
// The sequence can be ranged over once.
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		rd := reader{in: newLines(r), known: map[string]bool{}, unknown: map[string]bool{}}
		for {
			err := rd.step()
			for _, e := range rd.out {
				if !yield(e, nil) {
					return
				}
			}
			rd.out = rd.out[:0]
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Entry{Line: rd.in.Line()}, fmt.Errorf("reading the recording: %w", err))
				return
			}
		}
	}
}

// reader assembles lines into entries. Each step consumes one line and leaves
// the entries that it completed in out.
type reader struct {
	in  *jsonl.Reader
	out []Entry

	started, closed bool
	joined          bool            // another recording follows
	known           map[string]bool // scenarios
	unknown         map[string]bool // line types already reported

	trial  *Trial // nil outside a trial
	begun  int    // line of the trial's head
	size   int    // bytes of the trial
	broken int    // its first damaged line, or 0
	orphan bool   // lines outside a trial were already reported
}

func (r *reader) problem(line int, format string, args ...any) {
	r.out = append(r.out, Entry{Line: line, Problem: &Problem{Line: line, Message: fmt.Sprintf(format, args...)}})
}

func (r *reader) step() error {
	text, wrong, err := nextLine(r.in)
	if errors.Is(err, io.EOF) {
		return r.end()
	}
	if err != nil || r.joined {
		return err
	}
	line, ok := stored{}, false
	if wrong == "" {
		if line, ok = parse(text); !ok {
			wrong = "this is not a line of a recording"
		}
	}
	switch {
	case !r.started && !ok:
		return fmt.Errorf("line 1: %s; is this the right file?", wrong)
	case !r.started:
		return r.start(line)
	case !ok:
		r.damaged(wrong)
		return nil
	}
	r.dispatch(line, len(text))
	return nil
}

// start reads the first line.
func (r *reader) start(line stored) error {
	var run Run
	if line.kind != kindRun {
		return fmt.Errorf("line 1: a recording begins with a line of type %q, not %q", kindRun, line.kind)
	}
	if err := decode(line.body, &run); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if run.Schema != Schema {
		return fmt.Errorf(
			"line 1: the schema is %q and this program reads %q; use the version that wrote it (%.100q)",
			run.Schema, Schema, run.Tool)
	}
	r.started = true
	r.out = append(r.out, Entry{Line: r.in.Line(), Run: &run})
	return nil
}

func (r *reader) dispatch(line stored, size int) {
	switch line.kind {
	case kindRun:
		r.second(line)
	case kindScenario:
		var sc Scenario
		if r.top(line, &sc) {
			r.known[sc.Name] = true
			r.out = append(r.out, Entry{Line: r.in.Line(), Scenario: &sc})
		}
	case kindClose:
		var c Close
		if r.top(line, &c) {
			r.closed = true
			r.out = append(r.out, Entry{Line: r.in.Line(), Close: &c})
		}
	case kindTrial:
		var head TrialHead
		if !r.top(line, &head) {
			return
		}
		if !r.known[head.Scenario] {
			r.problem(r.in.Line(), "the trial's scenario %q was not recorded before it", head.Scenario)
		}
		r.trial, r.begun, r.size, r.broken, r.orphan = &Trial{Head: head}, r.in.Line(), 0, 0, false
	default:
		r.part(line, size)
	}
}

// second reports that another recording follows this one. Its trials belong to another run,
// and perhaps to another version, so all of it is skipped.
func (r *reader) second(line stored) {
	r.abandon()
	r.joined = true
	var run Run
	if err := decode(line.body, &run); err != nil {
		run = Run{}
	}
	r.problem(r.in.Line(), "a second run begins here (id %.100q, schema %.100q, written by %.100q): two recordings were joined. "+
		"Everything after it is skipped; report each recording separately", run.ID, run.Schema, run.Tool)
}

// top decodes a line outside trials, ending an unfinished trial.
func (r *reader) top(line stored, v any) bool {
	r.abandon()
	if err := decode(line.body, v); err != nil {
		r.problem(r.in.Line(), "%v", err)
		return false
	}
	return true
}

// part handles a line of a trial.
func (r *reader) part(line stored, size int) {
	into := r.trial
	if into == nil {
		into = &Trial{}
	}
	known, err := into.add(line)
	switch {
	case !known:
		if !r.unknown[line.kind] {
			r.unknown[line.kind] = true
			r.problem(r.in.Line(), "unknown line type %q; it may come from a newer version and is skipped", line.kind)
		}
		return
	case r.trial == nil:
		if !r.orphan {
			r.orphan = true
			r.problem(r.in.Line(), "a line of type %q is outside a trial; such lines are skipped", line.kind)
		}
		return
	case err != nil:
		r.damaged(err.Error())
	}
	if r.size += size; r.size > maxTrial {
		r.broken = r.in.Line()
		r.trial = &Trial{Head: r.trial.Head}
	}
	if line.kind == kindEnd {
		r.finish()
	}
}

// damaged reports the current line and marks its trial.
func (r *reader) damaged(wrong string) {
	r.problem(r.in.Line(), "%s", wrong)
	if r.trial != nil && r.broken == 0 {
		r.broken = r.in.Line()
	}
}

// finish delivers the trial whose end was just read, if it is valid.
func (r *reader) finish() {
	t := r.trial
	r.trial = nil
	switch missing := t.missing(); {
	case r.broken != 0:
		r.problem(r.begun, "trial %d of %s is left out: its line %d cannot be used", t.Head.N, t.Head.Scenario, r.broken)
	case missing != "":
		r.problem(r.begun, "trial %d of %s is left out: %s", t.Head.N, t.Head.Scenario, missing)
	default:
		r.out = append(r.out, Entry{Line: r.begun, Trial: t})
	}
}

// abandon reports a trial that has no end.
func (r *reader) abandon() {
	if r.trial != nil {
		r.problem(r.begun, "trial %d of %s has no end and is left out", r.trial.Head.N, r.trial.Head.Scenario)
		r.trial = nil
	}
}

// end reports missing lines at the end of the stream.
func (r *reader) end() error {
	if !r.started {
		return ErrEmpty
	}
	r.abandon()
	if !r.closed {
		r.problem(r.in.Line(), "the recording has no close line: the run was torn off, or the end of the file is missing")
	}
	return io.EOF
}

// add decodes a line into the trial. It reports whether the type is known.
func (t *Trial) add(line stored) (known bool, err error) {
	switch line.kind {
	case kindMessage:
		return true, appendTo(&t.Messages, line.body)
	case kindCall:
		return true, appendTo(&t.Calls, line.body)
	case kindExchange:
		return true, appendTo(&t.Exchanges, line.body)
	case kindEvent:
		return true, appendTo(&t.Events, line.body)
	case kindScript:
		return true, decode(line.body, &t.Script)
	case kindEnd:
		return true, decode(line.body, &t.End)
	}
	return false, nil
}

func appendTo[T any](list *[]T, body []byte) error {
	var v T
	if err := decode(body, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}

func decode(body []byte, v any) error {
	if err := json.Unmarshal(body, v, options); err != nil {
		return fmt.Errorf("the line cannot be decoded: %w", err)
	}
	return nil
}

// missing describes the first reference to a message that the trial does not have, or
// returns "".
func (t *Trial) missing() string {
	for i := range t.Calls {
		c := &t.Calls[i]
		for _, id := range c.Messages {
			if _, ok := t.Message(id); !ok {
				return fmt.Sprintf("call %d refers to the message %q, which is missing", c.N, id)
			}
		}
		if c.Reply != "" {
			if _, ok := t.Message(c.Reply); !ok {
				return fmt.Sprintf("call %d refers to the reply %q, which is missing", c.N, c.Reply)
			}
		}
	}
	return ""
}
