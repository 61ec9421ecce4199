package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// The types of the lines of a transcript.
const (
	lineBegin     = "begin"     // the start of a run
	lineContinue  = "continue"  // the start of a process that continues it
	lineCall      = "call"      // the start of the call of an iteration
	lineSession   = "session"   // an agent began a session
	lineIteration = "iteration" // a loop.Entry
	lineCheck     = "check"     // a loop.Check
	lineEvent     = "event"     // an event.Event other than iterations and the end
	lineEnd       = "end"       // a loop.Result without its iterations
)

// transcriptKind distinguishes the transcripts of loops from others.
const transcriptKind = "loop"

// Job describes how a run was started, apart from its settings: with these values another process can
// continue it.
type Job struct {
	// Dir is the folder in which the agent works.
	Dir string `json:"dir,omitempty"`
	// Command, Args, Access and Prices are the flags of the backend.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	Access  string   `json:"access,omitempty"`
	Prices  string   `json:"prices,omitempty"`
	// Git is true if a checkpoint of the files follows each iteration, and Rollback if failed ones are
	// undone; see KeepFiles.
	Git      bool `json:"git,omitempty"`
	Rollback bool `json:"rollback,omitempty"`
	// Sandbox is true if the agent ran in a sandbox, in which SandboxWrite was writable, too.
	Sandbox      bool     `json:"sandbox,omitempty"`
	SandboxWrite []string `json:"sandbox_write,omitempty"`
	// PromptFile is read before each iteration; empty if the prompt is fixed.
	PromptFile string `json:"prompt_file,omitempty"`
	// TodoFile counts as progress when it changes; may be empty.
	TodoFile string `json:"todo_file,omitempty"`
}

// header is the first line of each process.
type header struct {
	Type     string        `json:"type"`
	Tool     string        `json:"tool"`
	Kind     string        `json:"kind"`
	At       time.Time     `json:"at"`
	Settings loop.Settings `json:"settings"`
	Job      Job           `json:"job"`
	// Answer is the message of a person to the agent; see loop.Segment.
	Answer string `json:"answer,omitempty"`
}

// Record is the content of a transcript.
type Record struct {
	Path string `json:"-"`
	// Tool, At and Job are those of the first process.
	Tool string    `json:"tool"`
	At   time.Time `json:"at"`
	Job  Job       `json:"job"`
	// Settings are those of the last process.
	Settings loop.Settings `json:"settings"`
	// Entries are all iterations, and Events what happened besides.
	Entries []loop.Entry  `json:"transcript"`
	Events  []event.Event `json:"events,omitempty"`
	Checks  []loop.Check  `json:"checks,omitempty"`
	// Result is how the last process ended; nil if it was killed, or is running.
	Result *loop.Result `json:"result,omitempty"`
	// Processes counts the processes.
	Processes int `json:"processes"`

	past loop.Past
}

// ErrForeign is returned for a file that is not the transcript of a loop.
var ErrForeign = errors.New("it is not a transcript of rehearse loop")

// Read reads a transcript, which may be incomplete.
func Read(path string) (*Record, error) {
	r := &Record{Path: path}
	if err := run.ReadTranscript(path, r.add); err != nil {
		return nil, err
	}
	return r, r.check()
}

// IsTranscript reports whether a file begins as the transcript of a loop.
func IsTranscript(path string) bool {
	return run.Begins(path, `{"type":"`+lineBegin+`",`, `"kind":"`+transcriptKind+`"`)
}

// check returns an error if the file has no whole line.
func (r *Record) check() error {
	if r.Processes == 0 {
		return fmt.Errorf("read the transcript %s: %w: it is empty", r.Path, ErrForeign)
	}
	return nil
}

func (r *Record) add(line []byte) error {
	var head struct {
		Type string `json:"type"`
		Kind string `json:"kind"`
	}
	err := json.Unmarshal(line, &head)
	if r.Processes == 0 && (err != nil || head.Type != lineBegin || head.Kind != transcriptKind) {
		return ErrForeign
	}
	if err != nil {
		return fmt.Errorf("the line is damaged: %w", err)
	}
	return r.addLine(head.Type, line)
}

func (r *Record) addLine(kind string, line []byte) error {
	switch kind {
	case lineBegin, lineContinue:
		return decode(line, r.addHeader)
	case lineCall:
		return decode(line, func(c callLine) {
			r.segment().CutOff = true
			r.past.Elapsed = max(r.past.Elapsed, c.At)
		})
	case lineSession:
		return decode(line, func(s sessionLine) { r.segment().Session = s.ID })
	case lineIteration:
		return decode(line, r.addEntry)
	case lineCheck:
		return decode(line, r.addCheck)
	case lineEvent:
		return decode(line, func(e event.Event) { r.Events = append(r.Events, e) })
	case lineEnd:
		return decode(line, func(end loop.Result) {
			r.Result, r.segment().Ended = &end, true
			r.past.Elapsed = max(r.past.Elapsed, end.Duration)
		})
	}
	return nil // of a newer version
}

func decode[T any](line []byte, add func(T)) error {
	var v T
	if err := json.Unmarshal(line, &v); err != nil {
		return fmt.Errorf("the line is damaged: %w", err)
	}
	add(v)
	return nil
}

func (r *Record) addHeader(h header) {
	if r.Processes == 0 {
		r.Tool, r.At, r.Job = h.Tool, h.At, h.Job
	} else {
		r.segment().Answer = h.Answer
	}
	r.Processes++
	r.Settings, r.Result = h.Settings, nil
	r.past.Segments = append(r.past.Segments, loop.Segment{})
}

func (r *Record) addEntry(e loop.Entry) {
	r.Entries = append(r.Entries, e)
	s := r.segment()
	s.Entries, s.Session, s.CutOff = append(s.Entries, e), "", false
	r.past.Elapsed = max(r.past.Elapsed, e.At+e.Duration)
}

func (r *Record) addCheck(c loop.Check) {
	r.Checks = append(r.Checks, c)
	r.segment().Checks = append(r.segment().Checks, c)
	r.past.Elapsed += c.Duration
}

// Totals returns the sums of the run. Without an end, a call that has begun and has no entry is unknown.
func (r *Record) Totals() loop.Totals {
	if r.Result != nil {
		return r.Result.Totals
	}
	cutOff := 0
	for _, s := range r.past.Segments {
		if s.CutOff {
			cutOff++
		}
	}
	return loop.Sum(r.Entries, cutOff, cmp.Or(r.Settings.Budget.Cost.Currency, quantity.USD), 0)
}

// segment returns the record of the last process.
func (r *Record) segment() *loop.Segment { return &r.past.Segments[len(r.past.Segments)-1] }

// hidden returns the name of a text whose secrets the transcript does not have, or an empty string.
func (r *Record) hidden() string {
	s := r.Settings
	for name, text := range map[string]string{
		"system message": s.System, "continue prompt": s.ContinuePrompt, "command": r.Job.Command,
		"checks": strings.Join(s.Checks, "\n"), "further arguments": strings.Join(r.Job.Args, " "), "prompt": s.Prompt,
	} {
		if strings.Contains(text, "[REDACTED:") && (name != "prompt" || r.Job.PromptFile == "") {
			return name
		}
	}
	return ""
}

// callLine is the line of a call that begins.
type callLine struct {
	Type string        `json:"type"`
	N    int           `json:"n"`
	At   time.Duration `json:"at_ns"`
}

// sessionLine is the line of a session.
type sessionLine struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}
