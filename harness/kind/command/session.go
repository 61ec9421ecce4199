package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/failword"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/internal/jsonpath"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// live is a conversation with one process that serves all turns.
type live struct {
	*agent
	site    app.Site
	process *Process
	printed chan printed // closed at the end of the output

	failed   bool   // a turn reported an error
	answered bool   // the process has answered a turn
	beside   []byte // the end of the lines of this turn that are not its answer
	ended    error  // the error of End
}

// printed is a line of a program's output, or one that is too long.
type printed struct {
	line []byte
	long bool
}

// begin starts the process of a conversation.
func (a *agent) begin(site app.Site) (*live, error) {
	s := &live{agent: a, site: site}
	return s, s.start()
}

func (s *live) start() error {
	p, err := start(s.site, Program{Argv: s.opts.Run, Env: s.env}, child.Program{Interactive: true})
	if err != nil {
		return err
	}
	s.process, s.printed, s.answered = p, make(chan printed), false
	go pump(jsonl.NewReader(p.Stdout, app.MaxAnswer), s.printed)
	return nil
}

// pump delivers lines one by one, so that unexpected lines are noticed.
func pump(from *jsonl.Reader, to chan<- printed) {
	defer close(to)
	for {
		line, err := from.Next()
		long := errors.Is(err, jsonl.ErrTooLong)
		if err != nil && !long {
			return
		}
		to <- printed{bytes.TrimSuffix(bytes.Clone(line), []byte("\r")), long}
	}
}

// Say implements app.Session.
func (s *live) Say(ctx context.Context, text string) (answer app.Answer, err error) {
	defer func() { s.failed, s.answered = s.failed || err != nil, err == nil }()
	s.beside = nil
	if s.answered { // otherwise the program may have failed at its start
		s.process.BeginTurn()
	}
	if strings.ContainsAny(text, "\r\n") {
		return app.Answer{}, app.Errorf(app.Unusable,
			"a turn is one line of the program's input, and this one has several: %s", sanitize.Line(text, maxQuote))
	}
	// The end of the program unblocks all reads and writes.
	stop := context.AfterFunc(ctx, func() { _ = s.halt(context.WithoutCancel(ctx)) })
	defer stop()
	if err := s.checkEarly(); err != nil {
		return app.Answer{}, err
	}
	if _, err := io.WriteString(s.process.Stdin, text+"\n"); err != nil {
		return app.Answer{}, s.endError(ctx)
	}
	for n := 0; n <= app.MaxAnswer; {
		next, more := <-s.printed
		switch {
		case !more:
			return app.Answer{}, s.endError(ctx)
		case next.long:
			n = app.MaxAnswer + 1
			continue
		}
		n += len(next.line) + 1
		if answer, some, err := s.line(next.line); some || err != nil {
			return answer, err
		}
		s.note(next.line)
	}
	_ = s.halt(ctx)
	return app.Answer{}, app.Errorf(app.Flooded,
		"the program wrote more than %s to standard output in one turn, and was ended", size(app.MaxAnswer))
}

// checkEarly checks the lines that were printed before a turn and cannot be its answer. An
// unexpected line that arrives later is found at the end, where one line is left over.
func (s *live) checkEarly() error {
	for n := 0; n <= app.MaxAnswer; {
		select {
		case next, more := <-s.printed:
			if !more {
				return nil // the turn reports why
			}
			if err := s.surplus(next); err != nil {
				return err
			}
			n += len(next.line) + 1
		default:
			return nil
		}
	}
	return nil // the turn reports the flood
}

// surplus returns an error for a line that no turn asked for, unless it is a line without an
// answer and the form of the output allows those.
func (s *live) surplus(p printed) error {
	if s.opts.Output == outputJSONL && !p.long {
		if _, some, err := s.line(p.line); !some {
			return err
		}
	}
	return app.Errorf(app.Unusable,
		"the program printed more than one line for a turn, or a line that no turn asked for: %q; "+
			"the answer is one line, and everything else belongs on standard error", sanitize.Line(string(p.line), maxQuote))
}

// line finds the answer in a line; some is false for a line that need not have one.
func (s *live) line(line []byte) (answer app.Answer, some bool, err error) {
	if s.opts.Output != outputJSONL {
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
		return app.Answer{}, false, misshapen(s.opts, line, err)
	}
	return app.Answer{Text: text, Raw: raw(line)}, true, nil
}

// note keeps a line that is not an answer.
func (s *live) note(line []byte) {
	s.beside = append(append(s.beside, line...), '\n')
	if n := len(s.beside); n > 2*maxLastWords {
		s.beside = append(s.beside[:0], s.beside[n-maxLastWords:]...)
	}
}

// endError returns the reason why a process has ended without an answer.
func (s *live) endError(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if s.process.Await(ctx, grace) { // it closed its output or input, which a program does at its end
		for next := range s.printed { // it did not wait for the turn
			s.note(next.line)
		}
	}
	_ = s.halt(ctx)
	err := s.process.failure()
	if err == nil {
		crashed := app.Errorf(app.Crashed,
			"the program %q ended in the middle of the conversation, without an answer%s", s.process.name, s.process.lastWords())
		crashed.Silent, err = s.process.Silent(), crashed
	}
	if failed, ok := errors.AsType[*app.Error](err); ok {
		failed.Silent = failed.Silent && !failword.In(string(s.beside))
	}
	return err
}

// halt stops the process and discards the rest of its output.
func (s *live) halt(ctx context.Context) error {
	_ = s.process.Stdout.Close()
	return s.process.Stop(ctx)
}

// End implements app.Session: standard input is closed, and a program that does not end
// then is stopped. The error describes what it printed beside its answers, or how it
// failed, unless a turn has reported an error.
func (s *live) End(ctx context.Context) error {
	_ = s.process.Stdin.Close()
	rest := make(chan error, 1)
	go func() {
		var wrong error
		for p := range s.printed {
			if wrong == nil {
				wrong = s.surplus(p)
			}
		}
		rest <- wrong
	}()
	s.process.Await(ctx, grace)
	left := s.process.Stop(ctx)
	wrong := <-rest
	if s.failed {
		return left
	}
	s.ended = cmp.Or(s.ended, wrong, s.process.failure())
	return s.ended
}

// Restart implements app.Restarter.
func (s *live) Restart(ctx context.Context) error {
	_ = s.process.Stdout.Close()
	for range s.printed { // earlier output does not matter
	}
	if err := s.process.Kill(); err != nil {
		return err
	}
	return s.start()
}
