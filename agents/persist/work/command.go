package work

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

const (
	// grace is the time in which a command must end after SIGTERM.
	grace = 5 * time.Second
	// maxAnswer is the largest answer: the end of a command's standard output, in bytes.
	maxAnswer = 64 << 10
)

// command is a program as a worker. Its standard input is the task, and its output the answer. Its
// environment has REHEARSE_TASK (the id), REHEARSE_TASK_KEY (which does not change if the attempt is
// repeated after a crash), REHEARSE_ATTEMPT and REHEARSE_SEGMENT. Exit status 0 means done.
type command struct {
	argv, env []string
	wrapper   []string // precedes argv
	folder    string
}

// Work implements persist.Worker.
func (c *command) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	if err := a.Meter.Call(1); err != nil {
		return ended(err, "")
	}
	answer, complaint := child.Tail{Size: maxAnswer}, child.Tail{}
	end, err := child.Run(ctx, child.Program{
		Argv: slices.Concat(c.wrapper, c.argv), Dir: c.folder, Env: c.environment(a), Stdin: a.Prompt,
		Stdout: active{&answer, a.Meter}, Stderr: active{&complaint, a.Meter},
		Grace: grace,
	})
	if end.Cause != nil && answer.Cut() {
		answer = child.Tail{} // the cut is at a random position
	}
	hide := redact.HideSecrets(environ())
	out := persist.Outcome{Answer: sanitize.Text(hide.Replace(answer.Lines()), 0)}
	stderr := sanitize.Line(hide.Replace(complaint.Lines()), maxCarry)
	logTo(a, persist.Entry{Kind: "output", Name: end.State, Text: out.Answer, Details: hide.Replace(complaint.Lines())})
	switch {
	case err != nil:
		out.Grade, out.Details = persist.Blocked, c.name()+" cannot be run: "+err.Error()
	case end.Cause != nil:
		by := ended(end.Cause, out.Answer)
		out.Grade, out.Details, out.Carry = by.Grade, c.name()+" was "+by.Details, by.Carry
	case end.Code == 0:
		out.Grade, out.Details = persist.Done, c.name()+" ended with exit status 0"
	case end.Unrunnable():
		out.Grade, out.Details = persist.Blocked, withOutput(c.name()+" could not run a program that it needs: "+end.State, stderr)
	default:
		out.Grade, out.Details = persist.Failed, withOutput(c.name()+" failed: "+end.State, stderr)
		out.Carry = out.Details
	}
	if end.Left {
		out.Warning = fmt.Sprintf("something that it started left its process group, held its output for %s and may still run: "+
			"end it before it works against the next attempt", grace)
	}
	return out
}

// maxName is the largest command line in a message, in characters.
const maxName = 80

func (c *command) name() string { return sanitize.Line(strings.Join(c.argv, " "), maxName) }

// environ returns the environment of this process. Commands inherit it without secrets.
func environ() []string {
	return os.Environ() //nolint:forbidigo // commands inherit the environment, and secrets of it are hidden
}

func (c *command) environment(a persist.Assignment) []string {
	return append(redact.WithoutSecrets(environ(), c.env),
		"REHEARSE_TASK="+a.Task.ID,
		"REHEARSE_TASK_KEY="+a.Key,
		"REHEARSE_ATTEMPT="+strconv.Itoa(a.Attempt),
		"REHEARSE_SEGMENT="+strconv.Itoa(a.Segment),
	)
}

func withOutput(text, output string) string {
	if output == "" {
		return text
	}
	return text + "; it said: " + output
}

// active reports each write as activity.
type active struct {
	tail  *child.Tail
	meter persist.Meter
}

// Write implements io.Writer.
func (a active) Write(p []byte) (int, error) {
	a.meter.Active()
	return a.tail.Write(p)
}
