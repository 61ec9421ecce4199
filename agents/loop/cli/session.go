// Package cli runs a loop for a person at a terminal, with a transcript.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/redact"
)

// Session is one run of a loop.
type Session struct {
	settings   loop.Settings
	transcript *run.Transcript
	redact     *redact.Redactor
}

// Open begins the transcript of a run in a new file. Tool is the program's name and version.
func Open(path, tool string, s loop.Settings, r *redact.Redactor) (*Session, error) {
	shown := s
	for _, text := range []*string{&shown.Prompt, &shown.System, &shown.ContinuePrompt, &shown.Contract} {
		*text = r.Text(*text)
	}
	file, err := run.CreateTranscript(path, struct {
		Type     string        `json:"type"`
		Tool     string        `json:"tool"`
		Settings loop.Settings `json:"settings"`
	}{"begin", tool, shown})
	return &Session{settings: s, transcript: file, redact: r}, err
}

// Close closes the transcript.
func (s *Session) Close() error { return s.transcript.Close() }

// Run runs the loop and shows its iterations. The result has no secrets. An error means that the
// transcript is incomplete.
func (s *Session) Run(ctx context.Context, deps loop.Deps, on *console.View) (loop.Result, error) {
	v := newView(on, s.settings)
	defer v.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var writing error
	deps.Sink, deps.OnText, deps.OnActivity = v, v.text, v.activity
	deps.OnIteration = func(e loop.Entry) {
		e = s.redactEntry(e)
		v.iteration(e)
		if writing = errors.Join(writing, s.add(e)); writing != nil {
			cancel(writing) // do not pay for a call that would be lost
		}
	}
	result := s.redactResult(loop.Run(ctx, s.settings, deps))
	if writing == nil {
		writing = s.end(result)
	}
	if writing != nil {
		writing = fmt.Errorf("the transcript is not complete: %w", writing)
	}
	return result, writing
}

// add writes a redacted iteration.
func (s *Session) add(e loop.Entry) error {
	return s.transcript.Append(struct {
		Type string `json:"type"`
		loop.Entry
	}{"iteration", e})
}

// end writes a redacted result without the iterations, which are in the file already.
func (s *Session) end(r loop.Result) error {
	r.Transcript = nil
	return s.transcript.Append(struct {
		Type string `json:"type"`
		loop.Result
		Transcript []loop.Entry `json:"transcript,omitempty"`
	}{"end", r, nil})
}

func (s *Session) redactEntry(e loop.Entry) loop.Entry {
	e.Prompt, e.Answer, e.Error = s.redact.Text(e.Prompt), s.redact.Text(e.Answer), s.redact.Text(e.Error)
	e.Denials = s.redactDenials(e.Denials)
	return e
}

func (s *Session) redactDenials(denials []llm.Denial) []llm.Denial {
	denials = slices.Clone(denials)
	for i, d := range denials {
		denials[i].Detail = s.redact.Text(d.Detail)
	}
	return denials
}

func (s *Session) redactResult(r loop.Result) loop.Result {
	r.Text, r.Summary, r.Details = s.redact.Text(r.Text), s.redact.Text(r.Summary), s.redact.Text(r.Details)
	r.Denials = s.redactDenials(r.Denials)
	r.Transcript = slices.Clone(r.Transcript)
	for i, e := range r.Transcript {
		r.Transcript[i] = s.redactEntry(e)
	}
	return r
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
	fmt.Fprintf(w, "\ntranscript: %s\n", s.transcript.Path)
	if len(r.Denials) > 0 {
		fmt.Fprintln(w, "refused by the agent's permissions:")
		for _, d := range r.Denials {
			fmt.Fprintf(w, "  %s\n", sanitize.Line(d.String(), 200))
		}
		fmt.Fprintln(w, "next: permit it with --access, or with the agent's own flags in --agent-arg, and run it again")
	}
}
