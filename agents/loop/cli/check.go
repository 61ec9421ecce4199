package cli

import (
	"context"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

const (
	// checkGrace is the time in which a check must end after SIGTERM.
	checkGrace = 2 * time.Second
	// maxCheckOutput limits the end of the output that the agent gets, in bytes.
	maxCheckOutput = 8 << 10
)

// RunCheck returns a function that runs a check in a shell in the current folder, without the secrets in
// the environment, which the agent could otherwise print. Wrapper precedes the command line, such as that of
// a sandbox; it may be nil.
func RunCheck(wrapper []string) loop.CheckFunc {
	return func(ctx context.Context, command string) loop.Check { return runCheck(ctx, wrapper, command) }
}

func runCheck(ctx context.Context, wrapper []string, command string) loop.Check {
	argv := []string{"sh", "-c", command}
	if runtime.GOOS == "windows" {
		argv = []string{"cmd", "/c", command}
	}
	environ := os.Environ() //nolint:forbidigo // the command needs the user's own environment
	output := child.Tail{Size: maxCheckOutput}
	end, err := child.Run(ctx, child.Program{
		Argv: slices.Concat(wrapper, argv), Env: redact.WithoutSecrets(environ, nil), Stdout: &output, Grace: checkGrace,
	})
	if err != nil {
		return loop.Check{Verdict: loop.CheckUnknown, Details: "it cannot be run: " + err.Error()}
	}
	c := judgeCheck(end)
	if c.Verdict != loop.CheckPass {
		c.Output = sanitize.Text(redact.HideSecrets(environ).Replace(output.Lines()), 0)
	}
	return c
}

// judgeCheck returns the verdict on the end of a check. A shell reports a program that cannot be run by
// its exit status.
func judgeCheck(end child.Ending) loop.Check {
	switch {
	case end.Cause != nil:
		return loop.Check{Verdict: loop.CheckUnknown, Details: "it was ended: " + end.Cause.Error()}
	case end.Code < 0:
		return loop.Check{Verdict: loop.CheckUnknown, Details: "it was ended from outside: " + end.State}
	case end.Unrunnable():
		return loop.Check{Verdict: loop.CheckUnknown, Details: "a program that it needs cannot be run: " + end.State}
	case end.Code > 0:
		return loop.Check{Verdict: loop.CheckFail, Details: end.State}
	}
	return loop.Check{Verdict: loop.CheckPass}
}
