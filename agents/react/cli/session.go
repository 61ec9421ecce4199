// Package cli runs a ReAct agent for a person at a terminal, with a transcript.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

// Session is one run of an agent.
type Session struct {
	job        *Job
	options    react.Options
	transcript *run.Transcript
	redact     *redact.Redactor
}

// Open begins the transcript of a run in a new file. Tool is the program's name and version.
func Open(path, tool string, job *Job, o react.Options, r *redact.Redactor) (*Session, error) {
	s := &Session{job: job, options: o, redact: r}
	var err error
	s.transcript, err = run.CreateTranscript(path, struct {
		Type      string        `json:"type"`
		Tool      string        `json:"tool"`
		Agent     string        `json:"agent"`
		File      string        `json:"file"`
		Workspace string        `json:"workspace"`
		Task      react.Task    `json:"task"`
		Options   react.Options `json:"options"`
	}{"begin", tool, job.Agent.ID, job.Agent.File, job.Workspace, s.redactTask(job.Task), o})
	return s, err
}

// Close closes the transcript.
func (s *Session) Close() error { return s.transcript.Close() }

// Run runs the agent and shows its iterations. The result has no secrets. An error means that the
// transcript is incomplete.
func (s *Session) Run(ctx context.Context, deps react.Deps, on *console.View) (react.Result, error) {
	v := newView(on, s.job, s.options, deps.Clock)
	fmt.Fprintf(v.Out, "agent %s, backend %s, workspace %s\n", s.job.Agent.ID, deps.BackendID, s.job.Workspace)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writing error
	deps.Sink, deps.Actions, deps.Agents = v, s.job.actions, s.job.Agents
	deps.OnIteration = func(e react.Entry) {
		e = s.redactEntry(e)
		v.iteration(e)
		if writing = errors.Join(writing, s.add(e)); writing != nil {
			cancel(writing) // do not pay for a call that would be lost
		}
	}
	result := react.Run(ctx, s.job.Agent, s.job.Task, s.options, deps)
	v.close()
	result = s.redactResult(result)
	if writing == nil {
		writing = s.end(result)
	}
	if writing != nil {
		writing = fmt.Errorf("the transcript is not complete: %w", writing)
	}
	return result, writing
}

// add writes a redacted iteration.
func (s *Session) add(e react.Entry) error {
	return s.transcript.Append(struct {
		Type string `json:"type"`
		react.Entry
	}{"iteration", e})
}

// end writes a redacted result without the iterations, which are in the file already.
func (s *Session) end(r react.Result) error {
	return s.transcript.Append(struct {
		Type string `json:"type"`
		react.Result
		Transcript []react.Entry `json:"transcript,omitempty"`
	}{"end", r, nil})
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
	if next := strings.TrimSuffix(r.Next, ": "+r.Question); next != "" && r.Status != react.StatusDone {
		fmt.Fprintf(w, "next: %s\n", sanitize.Line(next, 1000))
	}
	fmt.Fprintf(w, "transcript: %s\n", s.transcript.Path)
}
