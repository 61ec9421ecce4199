package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
)

// ending describes how a process ended, with the end of its standard error.
type ending struct {
	child.Ending
	stderr string
}

// errLingers is the cause for stopping an agent that does not exit after its final event.
var errLingers = errors.New("the agent did not exit after its final event")

// errorLog keeps the end of standard error and copies all of it to log, ignoring errors of log.
type errorLog struct {
	child.Tail
	log io.Writer
}

// Write implements io.Writer; it never fails.
func (l *errorLog) Write(p []byte) (int, error) {
	if l.log != nil {
		_, _ = l.log.Write(p)
	}
	return l.Tail.Write(p)
}

// callVariable is set for an agent to the id of the call. The tools that it starts inherit it.
const callVariable = "REHEARSE_CALL"

// run starts the agent and calls line for each line of its output, until line reports the final event
// and the agent has exited. The process group has then ended. If the agent was stopped or failed, the tools
// that it had started in process groups of their own have ended, too (on Linux): they would change files
// during the next call. The error is about the start.
func run(ctx context.Context, l launch, cfg Config, line func([]byte) (final bool)) (ending, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stderr := &errorLog{log: cfg.Log}
	mark := callVariable + "=" + rand.Text()
	p, err := child.Start(within, child.Program{
		Argv: l.argv, Dir: l.dir, Env: append(slices.Clip(l.env), mark), Stdin: l.stdin, Stderr: stderr, Grace: cfg.Grace,
	})
	if err != nil {
		return ending{}, err
	}
	var stopLinger func()
	flood := eachLine(p.Stdout, maxLine, cfg.MaxOutput, func(b []byte) {
		if line(b) && stopLinger == nil {
			stopLinger = clock.Real().AfterFunc(cfg.Grace, func() { cancel(errLingers) })
		}
	})
	if flood != nil {
		cancel(flood)
	}
	_ = p.Stdout.Close() // what follows a flood is discarded
	end := p.Wait()
	if stopLinger != nil {
		stopLinger()
	}
	end.Cause = cmp.Or(flood, end.Cause)
	if end.Cause != nil || end.Code != 0 {
		child.KillMarked(mark)
	}
	return ending{end, stderr.String()}, nil
}
