// Package cli runs a ReAct agent for a person at a terminal, with a transcript.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/mcp"
	"github.com/rehearse-dev/rehearse/agents/react/replay"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

// Session is one run of an agent, or a part of one that is continued.
type Session struct {
	job        *Job
	options    react.Options
	transcript *run.Transcript
	redact     *redact.Redactor
	log        *replay.Log
	past       *Past // nil for a new run
	seen       int   // iterations that ended
}

// Open begins the transcript of a run in a new file. Begin names the program and the backend; the other
// fields are those of the job.
func Open(path string, begin Begin, job *Job, o react.Options, r *redact.Redactor) (*Session, error) {
	s := &Session{job: job, options: o, redact: r, past: &Past{}}
	begin.Type, begin.Agent, begin.Task, begin.Options = lineBegin, job.Agent.ID, redact.Copy(job.Task, r.Text), o
	begin.Approve, begin.Servers = job.Gate.Approval, redact.Copy(job.Servers, r.Text)
	begin.Sandbox = len(job.Wrapper) > 0
	begin.File, begin.Workspace, begin.Agents = absolute(job.Agent.File), absolute(job.Workspace), absolute(job.Folder)
	var err error
	s.transcript, err = run.CreateTranscript(path, begin)
	s.log = replay.New(nil, s.record)
	return s, err
}

// absolute returns a path that does not depend on the current folder.
func absolute(path string) string {
	if full, err := filepath.Abs(path); path != "" && err == nil {
		return full
	}
	return path
}

// Continue opens the transcript of a run that ended early, or was killed. The answer, which may be empty, is
// for the question with which it ended.
func Continue(path string, tool string, job *Job, o react.Options, answer string, r *redact.Redactor) (*Session, error) {
	s := &Session{job: job, options: o, redact: r, past: &Past{}}
	var err error
	if s.transcript, err = run.ContinueTranscript(path, s.past.add); err != nil {
		return nil, err
	}
	s.log = replay.New(s.past.records, s.record)
	s.log.Given = answer
	if err = s.past.check(path); err == nil {
		err = s.transcript.Append(struct {
			Type    string        `json:"type"`
			Tool    string        `json:"tool"`
			Options react.Options `json:"options"`
		}{lineContinue, tool, o})
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the transcript.
func (s *Session) Close() error { return s.transcript.Close() }

// record writes a redacted record.
func (s *Session) record(r replay.Record) error {
	return s.transcript.Append(redact.Copy(r, s.redact.Text))
}

// Run runs the agent and shows its iterations. The result has no secrets. An error means that the
// transcript is incomplete. Deps.Person answers questions; escalation, which may be nil, answers
// those with which the run would end.
func (s *Session) Run(ctx context.Context, deps react.Deps, escalation react.Person, on *console.View) (react.Result, error) {
	v := newView(on, s.job, s.options, deps.Clock)
	fmt.Fprintf(v.Out, "agent %s, backend %s, workspace %s\n", s.job.Agent.ID, deps.BackendID, s.job.Workspace)
	if n := len(s.past.Iterations); n > 0 {
		fmt.Fprintf(v.Out, "continued after %s\n", format.Plural(n, "iteration"))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writing error
	servers := mcp.NewPool(ctx, mcp.Options{Workspace: s.job.Workspace, Servers: s.job.Servers, Wrapper: s.job.Wrapper})
	defer servers.Close()
	deps.Sink, deps.Actions, deps.Agents = s.unplayed(v), s.log.Actions(s.job.actions(servers)), s.job.Agents
	deps.Backend, deps.Person = s.log.Backend(deps.Backend), s.log.Person(deps.Person)
	answers := s.log.Person(escalation)
	deps.Answer = func(ctx context.Context, question string) (string, bool) { return answers.Ask(ctx, question, "") }
	deps.OnIteration = func(e react.Entry) {
		e = redact.Copy(e, s.redact.Text)
		if s.isPast(e) {
			return
		}
		v.iteration(e)
		if writing = errors.Join(writing, s.add(e)); writing != nil {
			cancel(writing) // do not pay for a call that would be lost
		}
	}
	result := react.Run(ctx, s.job.Agent, s.job.Task, s.options, deps)
	v.close()
	result = redact.Copy(result, s.redact.Text)
	result.Next = s.next(result)
	if writing == nil {
		writing = s.end(result)
	}
	if writing != nil {
		writing = fmt.Errorf("the transcript is not complete: %w", writing)
	}
	return result, writing
}

// unplayed passes on the events of what is not repeated from the transcript.
func (s *Session) unplayed(sink event.Sink) event.Sink {
	return event.SinkFunc(func(e event.Event) {
		if !s.log.Playing() {
			sink.Emit(e)
		}
	})
}

// isPast reports whether an iteration, the next one that ended, is in the transcript already.
func (s *Session) isPast(e react.Entry) bool {
	s.seen++
	if s.seen > len(s.past.Iterations) {
		return false
	}
	past := s.past.Iterations[s.seen-1]
	past.At = e.At // a continued run has a clock of its own
	return past == e
}

// next returns the recommended next action: for a run that can be continued, the command.
func (s *Session) next(r react.Result) string {
	command := []string{"rehearse", "react", "--continue", s.transcript.Path}
	switch {
	case r.Status == react.StatusEscalate && len(r.Transcript) == 0: // no call was made
		return "Give the missing inputs with --input, and run the agent again"
	case s.log.Playing() || r.Status == react.StatusError && errors.Is(r.Err, replay.ErrDiverged),
		errors.Is(r.Err, react.ErrTask), errors.Is(r.Err, react.ErrAgent), len(r.Transcript) == 0:
		return r.Next
	case r.Status == react.StatusEscalate || r.Status == react.StatusBlocked:
		return "Answer it with " + format.ShellLine(append(command, "--answer")...) + ` "..."`
	case r.Status == react.StatusError, r.Status == react.StatusTimeout, r.Status == react.StatusBudget, r.Status == react.StatusInterrupted:
		advice := strings.TrimSuffix(strings.TrimSuffix(r.Next, ": "+r.Details), ".")
		return advice + ". Continue it with " + format.ShellLine(command...)
	}
	return r.Next
}

// add writes a redacted iteration.
func (s *Session) add(e react.Entry) error {
	return s.transcript.Append(struct {
		Type string `json:"type"`
		react.Entry
	}{lineIteration, e})
}

// end writes a redacted result without the iterations, which are in the file already.
func (s *Session) end(r react.Result) error {
	return s.transcript.Append(struct {
		Type string `json:"type"`
		react.Result
		Transcript []react.Entry `json:"transcript,omitempty"`
	}{lineEnd, r, nil})
}

// ShowEnd prints the end of a run, the open points, and the path of the transcript.
func (s *Session) ShowEnd(w io.Writer, term console.Terminal, r react.Result) {
	color := console.Yellow
	if r.Status == react.StatusDone {
		color = console.Green
	}
	fmt.Fprintf(w, "%s after %s in %s", term.Paint(color, string(r.Status)),
		format.Plural(r.Iterations, "iteration"), r.Duration.Round(time.Millisecond))
	if r.Details != "" {
		fmt.Fprintf(w, ": %s", sanitize.Line(r.Details, 1000))
	}
	fmt.Fprintln(w)
	if r.Question != "" {
		fmt.Fprintf(w, "question: %s\n", sanitize.Line(console.Joined(string(r.Trigger), r.Question), console.MaxQuestion))
	}
	if v := r.Verification; r.Status == react.StatusDone && v != nil && !v.Verified() {
		var parts []string
		for _, p := range v.ByWord() {
			parts = append(parts, string(p))
		}
		fmt.Fprintf(w, "by the agent's word alone: %s\n", strings.Join(parts, ", "))
	}
	for _, missing := range r.Missing {
		fmt.Fprintf(w, "missing: %s\n", sanitize.Line(missing, 1000))
	}
	if next := strings.TrimSuffix(strings.TrimSuffix(r.Next, ": "+r.Question), ": "+r.Details); next != "" && r.Status != react.StatusDone {
		fmt.Fprintf(w, "next: %s\n", sanitize.Line(next, 1000))
	}
	fmt.Fprintf(w, "transcript: %s\n", s.transcript.Path)
}
