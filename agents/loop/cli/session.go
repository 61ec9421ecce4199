// Package cli runs a loop for a person at a terminal, with a transcript.
package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/redact"
)

// Session is one process of a run of a loop.
type Session struct {
	settings   loop.Settings
	job        Job
	transcript *run.Transcript
	past       *loop.Past // nil for a new run
	out        Output
	failed     error // of writing
}

// Output describes what a session writes besides its view.
type Output struct {
	// Redact removes secrets.
	Redact *redact.Redactor
	// Events receives a copy of the lines of the transcript; may be nil.
	Events io.Writer
	// Files receive a checkpoint after each iteration; may be nil.
	Files *Files
}

// Open begins the transcript of a run in a new file. Tool is the program's name and version.
func Open(path, tool string, s loop.Settings, job Job, o Output) (*Session, error) {
	session := &Session{settings: s, job: job, out: o}
	first := session.header(lineBegin, tool, "")
	var err error
	if session.transcript, err = run.CreateTranscript(path, first); err != nil {
		return nil, err
	}
	return session, session.copyLine(first)
}

// header returns the first line of this process, without secrets.
func (s *Session) header(kind, tool, answer string) header {
	h := header{
		Type: kind, Tool: tool, Kind: transcriptKind, At: clock.Real().Now().UTC().Truncate(time.Second),
		Settings: s.settings, Job: s.job, Answer: answer,
	}
	return redact.Copy(h, s.out.Redact.Text)
}

func (s *Session) write(line any) error {
	if err := s.transcript.Append(line); err != nil {
		return err
	}
	return s.copyLine(line)
}

// copyLine writes a line to Output.Events.
func (s *Session) copyLine(line any) error {
	if s.out.Events == nil {
		return nil
	}
	data, err := json.Marshal(line)
	if err == nil {
		_, err = s.out.Events.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("print an event: %w", err)
	}
	return nil
}

// Path returns the path of the transcript.
func (s *Session) Path() string { return s.transcript.Path }

// Close closes the transcript.
func (s *Session) Close() error { return s.transcript.Close() }

// Run runs the loop and shows its iterations. The result has no secrets. An error means that the
// transcript is incomplete.
func (s *Session) Run(ctx context.Context, deps loop.Deps, on *console.View) (loop.Result, error) {
	v := newView(on, s.settings, deps.Clock, s.earlier())
	defer v.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keep := func(line any) {
		if s.failed == nil {
			if s.failed = s.write(line); s.failed != nil {
				cancel(s.failed) // do not pay for a call that would be lost
			}
		}
	}
	deps.Past, deps.OnText, deps.OnActivity = s.past, v.onText, v.activity
	deps.OnCall = func(n int, at time.Duration) { keep(callLine{lineCall, n, at}) }
	deps.OnSession = func(id string) { keep(sessionLine{lineSession, id}) }
	deps.OnIteration = func(e loop.Entry) {
		e = redact.Copy(e, s.out.Redact.Text)
		v.iteration(e)
		keep(struct {
			Type string `json:"type"`
			loop.Entry
		}{lineIteration, e})
	}
	deps.Sink = event.SinkFunc(func(e event.Event) {
		v.Emit(e)
		if e.Kind != event.Iteration && e.Kind != event.End { // they have lines of their own
			e.Detail = s.out.Redact.Text(e.Detail)
			keep(struct {
				Type string `json:"type"`
				event.Event
			}{lineEvent, e})
		}
	})
	deps.OnWait = v.wait
	check := deps.Check
	deps.Check = func(ctx context.Context, command string) loop.Check {
		v.underWay("check " + command)
		return check(ctx, command)
	}
	deps.OnCheck = func(c loop.Check) {
		c = redact.Copy(c, s.out.Redact.Text)
		v.check(c)
		keep(struct {
			Type string `json:"type"`
			loop.Check
		}{lineCheck, c})
	}
	s.out.Files.emitBefore(deps.Sink)
	deps.Checkpoint = s.out.Files.checkpoint(ctx)
	result := redact.Copy(loop.Run(ctx, s.settings, deps), s.out.Redact.Text)
	keep(endOf(result))
	if s.failed != nil {
		s.failed = fmt.Errorf("the transcript is not complete: %w", s.failed)
	}
	return result, s.failed
}

// earlier returns the number of iterations of earlier processes.
func (s *Session) earlier() int {
	n := 0
	if s.past != nil {
		for _, segment := range s.past.Segments {
			n += len(segment.Entries)
		}
	}
	return n
}

// endLine is a result without the iterations, which are in the transcript already.
type endLine struct {
	Type string `json:"type"`
	loop.Result
	Transcript []loop.Entry `json:"transcript,omitempty"`
}

func endOf(r loop.Result) endLine {
	r.Transcript = nil
	return endLine{Type: lineEnd, Result: r}
}

// ShowEnd writes how a run ended, and where its transcript is.
func (s *Session) ShowEnd(w io.Writer, term console.Terminal, r loop.Result) {
	color := console.Yellow
	if r.Status == loop.StatusDone {
		color = console.Green
	}
	fmt.Fprintf(w, "%s after %s in %s", term.Paint(color, string(r.Status)),
		format.Plural(r.Iterations, "iteration"), r.Duration.Round(time.Millisecond))
	if r.Details != "" {
		fmt.Fprintf(w, ": %s", sanitize.Line(r.Details, 1000))
	}
	fmt.Fprintln(w)
	if r.Iterations > 0 {
		tokens, cost := r.Totals.Describe()
		fmt.Fprintf(w, "spent: %s, %s\n", tokens, cost)
	}
	fmt.Fprintf(w, "transcript: %s\n", s.transcript.Path)
	s.out.Files.show(w)
	if r.Status != loop.StatusDone {
		fmt.Fprintf(w, "to continue: %s\n", s.command(r))
	}
	if len(r.Denials) > 0 {
		fmt.Fprintln(w, "refused by the agent's permissions:")
		for _, line := range refusedCalls(r.Denials) {
			fmt.Fprintf(w, "  %s\n", line)
		}
		fmt.Fprintln(w, "next: permit it with --access, or with the agent's own flags in --agent-arg, and run it again")
	}
}

// refusedCalls returns a line for each different denied call, in their order, with their number.
func refusedCalls(denials []llm.Denial) []string {
	var lines []string
	times := map[string]int{}
	for _, d := range denials {
		line := sanitize.Line(d.String(), 200)
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if n := times[line]; n > 1 {
			lines[i] += fmt.Sprintf(" ×%d", n)
		}
	}
	return lines
}

// command returns the command that continues the run.
func (s *Session) command(r loop.Result) string {
	words := []string{"rehearse", "loop", "--continue", s.transcript.Path}
	switch {
	case slices.Contains(limitGuards, r.Guard):
		words = append(words, limitOf(s.settings, r.Guard).flag, "MORE")
	case asksPerson(r):
		words = append(words, "--answer", "TEXT")
	}
	return format.ShellLine(words...)
}
