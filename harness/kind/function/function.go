package function

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
)

// noFunctions is the agent of a program without Go functions. It cannot be driven.
type noFunctions struct{ name string }

// Start implements app.Agent.
func (f noFunctions) Start(context.Context, app.Site) (app.Session, error) {
	return nil, app.Errorf(app.Absent,
		"the agent is the Go function %q, which this program does not have; "+
			"drive it in a Go test, by harness.Rehearse (docs/how-to/go-tests.md)", f.name)
}

// functionGrace limits how long a function may take to return after its context has ended,
// in real time.
const functionGrace = 2 * time.Second

// function is an agent that is a Go function. It cannot be killed, so a trial whose function
// does not return is an error.
type function struct {
	maker app.Maker
	// patience limits a turn in real time, since the trial's clock does not advance while the
	// function waits for something else.
	patience, grace time.Duration
}

// Start implements app.Agent.
func (f *function) Start(_ context.Context, site app.Site) (session app.Session, err error) {
	say, err := f.make(site)
	if err != nil {
		return nil, err
	}
	return &functionSession{function: f, say: say}, nil
}

// talk answers the turns of one conversation.
type talk = func(ctx context.Context, text string) (string, error)

func (f *function) make(site app.Site) (say talk, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicError("the function's maker", p)
		}
	}()
	if say = f.maker(site); say == nil {
		return nil, app.Errorf(app.Unusable, "the maker made no function: it returned nil")
	}
	return say, nil
}

type functionSession struct {
	*function
	say talk
	// late receives the result of an abandoned turn.
	late chan result
}

// result is the result of a call of the function.
type result struct {
	answer string
	err    error
}

// Say implements app.Session. The function has a goroutine of its own, which is abandoned if
// the function never returns.
func (s *functionSession) Say(ctx context.Context, text string) (app.Answer, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan result, 1)
	go func() {
		r := result{err: app.Errorf(app.Crashed, "the function ended its goroutine (runtime.Goexit, as t.FailNow does) and answered nothing")}
		defer func() {
			if p := recover(); p != nil {
				r.err = panicError("the function", p)
			}
			done <- r
		}()
		r.answer, r.err = s.say(inner, text)
	}()
	patience := time.NewTimer(s.patience) //nolint:forbidigo // a function may block in real time
	defer patience.Stop()
	select {
	case r := <-done:
		return r.answered()
	case <-ctx.Done():
	case <-patience.C:
		cancel(errBlocked)
	}
	grace := time.NewTimer(s.grace) //nolint:forbidigo // as above
	defer grace.Stop()
	r := result{err: errBlocked}
	select {
	case r = <-done:
	case <-grace.C:
		s.late = done
	}
	if clock.Err(ctx) == nil {
		return app.Answer{}, app.Errorf(app.TimedOut, "the turn had no answer within %s of real time (timeout): %w", s.patience, errBlocked)
	}
	return r.answered()
}

// errBlocked ends the context of a function that blocks without the trial's clock.
var errBlocked = errors.New("the function waits for something that is not on the trial's clock (site.Clock, site.Client)")

// answered converts a result to an answer or an *app.Error. The caller that ended the context
// reports a late result.
func (r result) answered() (app.Answer, error) {
	failed, _ := errors.AsType[*app.Error](r.err)
	switch {
	case failed != nil:
		return app.Answer{}, failed
	case r.err != nil:
		return app.Answer{}, app.Errorf(app.Failed, "the function failed: %w", r.err)
	case len(r.answer) > app.MaxAnswer:
		return app.Answer{}, app.Errorf(app.Flooded,
			"the function answered %d bytes, more than the %d that an answer may have", len(r.answer), app.MaxAnswer)
	case !utf8.ValidString(r.answer):
		return app.Answer{}, app.Errorf(app.Unusable, "the function's answer is not UTF-8 text")
	}
	return app.Answer{Text: r.answer}, nil
}

// panicError returns the error of a panic with its position, without addresses and folders,
// which differ from machine to machine.
func panicError(what string, p any) *app.Error {
	err, _ := p.(error)
	return &app.Error{Kind: app.Crashed, Err: err, Message: fmt.Sprintf("%s panicked%s: %v", what, panicPosition(), p)}
}

// panicPosition returns the position of the panic that is being recovered.
func panicPosition() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if panicking && !inRuntime {
			return fmt.Sprintf(" in %s (%s:%d)", filepath.Base(frame.Function), filepath.Base(frame.File), frame.Line)
		}
		panicking = panicking || frame.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

// End implements app.Session.
func (s *functionSession) End(context.Context) error {
	if s.late == nil {
		return nil
	}
	select {
	case <-s.late:
		return nil
	default:
		return fmt.Errorf(
			"the function did not return within %s after its context had ended, and still runs; let it return when ctx ends",
			s.grace)
	}
}
