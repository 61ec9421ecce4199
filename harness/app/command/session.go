package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/internal/lines"
	"github.com/rehearse-dev/rehearse/internal/plain"
)

// live is a conversation with one process.
type live struct {
	*agent
	site    app.Site
	process *Process
	out     *io.PipeReader
	lines   *lines.Reader
}

// begin starts the process of a conversation.
func (a *agent) begin(site app.Site) (*live, error) {
	s := &live{agent: a, site: site}
	return s, s.start()
}

func (s *live) start() error {
	out, w := io.Pipe()
	p, err := Start(s.site, Program{Argv: s.cfg.Run, Env: s.cfg.Env, Stdout: w, Input: true})
	if err != nil {
		return err
	}
	go func() {
		<-p.reading.Done()
		_ = w.Close()
	}()
	s.process, s.out, s.lines = p, out, lines.New(out, s.cfg.MaxOutput)
	return nil
}

// Say implements app.Session.
func (s *live) Say(ctx context.Context, text string) (app.Answer, error) {
	if strings.ContainsAny(text, "\r\n") {
		return app.Answer{}, app.Errorf(app.Unusable, "a turn is one line of the program's input, and this one has several: %s", plain.Line(text, maxQuote))
	}
	// Whatever keeps us waiting, the program's end frees us.
	stop := context.AfterFunc(ctx, func() { _ = s.halt(context.WithoutCancel(ctx)) })
	defer stop()
	if _, err := io.WriteString(s.process.Stdin, text+"\n"); err != nil {
		return app.Answer{}, s.gone(ctx)
	}
	for printed := 0; printed <= s.cfg.MaxOutput; {
		line, err := s.lines.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			printed = s.cfg.MaxOutput + 1
			continue
		case err != nil:
			return app.Answer{}, s.gone(ctx)
		}
		printed += len(line) + 1
		if answer, some, err := s.line(line); some || err != nil {
			return answer, err
		}
	}
	_ = s.halt(ctx)
	return app.Answer{}, app.Errorf(app.Flooded, "the program wrote more than %s to standard output in one turn, and was ended", size(s.cfg.MaxOutput))
}

// line takes the answer out of a line; some is false if it has none and need not.
func (s *live) line(line []byte) (answer app.Answer, some bool, err error) {
	if s.cfg.Output != JSONL {
		answer, err = s.read(line)
		return answer, true, err
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return app.Answer{}, false, nil
	}
	if err := readable(line); err != nil {
		return app.Answer{}, false, err
	}
	text, err := s.path.Text(line)
	switch {
	case errors.Is(err, jsonpath.ErrAbsent):
		return app.Answer{}, false, nil
	case err != nil:
		return app.Answer{}, false, misshapen(s.cfg, line, err)
	}
	return app.Answer{Text: text, Raw: raw(line)}, true, nil
}

// gone says why there is no answer from a process that has ended, or was.
func (s *live) gone(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	s.process.linger(ctx, grace) // it closed its output, which a program does at its end
	_ = s.halt(ctx)
	if err := s.process.failure(); err != nil {
		return err
	}
	return app.Errorf(app.Crashed, "the program %q ended in the middle of the conversation, without an answer%s", s.process.name, s.process.lastWords())
}

// halt ends the process, whose output nobody reads any more.
func (s *live) halt(ctx context.Context) error {
	_ = s.out.CloseWithError(io.ErrClosedPipe)
	return s.process.Stop(ctx)
}

// End implements app.Session: the program is told that nothing more comes, by the end
// of its standard input, and ended if that does not end it.
func (s *live) End(ctx context.Context) error {
	_ = s.process.Stdin.Close()
	go func() { _, _ = io.Copy(io.Discard, s.out) }()
	s.process.linger(ctx, grace)
	return s.halt(ctx)
}

// Restart implements app.Restarter.
func (s *live) Restart(ctx context.Context) error {
	_ = s.out.CloseWithError(io.ErrClosedPipe)
	if err := s.process.Kill(ctx); err != nil {
		return err
	}
	return s.start()
}
