package work

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/redact"
)

// probeGrace is the time in which a command must end after SIGTERM.
const probeGrace = 2 * time.Second

// commandProbe answers a check by the exit status of a program.
type commandProbe struct {
	spec  plan.Probe
	dir   string
	clock clock.Clock
	// wrapper precedes the command line, such as that of a sandbox.
	wrapper []string
}

func (c commandProbe) probe(ctx context.Context) plan.CheckResult {
	within, cancel := c.clock.WithTimeout(ctx, c.spec.Timeout.Std())
	defer cancel()
	var output child.Tail
	end, err := child.Run(within, child.Program{
		Argv:   slices.Concat(c.wrapper, c.spec.Command),
		Dir:    c.dir,
		Env:    redact.WithoutSecrets(environ(), c.spec.Env),
		Stdout: &output,
		Grace:  probeGrace,
	})
	if err != nil {
		return unknown("%s cannot be run: %v", c.name(), err)
	}
	r := c.judge(ctx, end)
	if end.Left {
		r.Details += fmt.Sprintf("; something that it started left its process group, held its output for %s and may still run", probeGrace)
	}
	if end.Cause != nil && output.Cut() {
		return r // the cut is at a random position
	}
	r.Output = sanitize.Text(redact.HideSecrets(environ()).Replace(output.Lines()), 0)
	if why := provesNothing(r, output.Cut()); why != "" {
		r.Verdict, r.Details = plan.Unknown, c.name()+" "+why
	}
	if r.Verdict == plan.Fail {
		r.Items = failures(r.Output)
	}
	return r
}

func (c commandProbe) judge(ctx context.Context, end child.Ending) plan.CheckResult {
	switch {
	case end.Cause != nil && clock.Err(ctx) == nil:
		return unknown("%s did not end within %s (timeout)", c.name(), c.spec.Timeout)
	case end.Cause != nil:
		return unknown("%s was ended: %v", c.name(), end.Cause)
	case end.Code < 0:
		return unknown("%s was ended from outside: %s", c.name(), end.State)
	case end.Unrunnable():
		return unknown("%s could not run a program that it needs: %s", c.name(), end.State)
	case end.Code > 0:
		return plan.CheckResult{Verdict: plan.Fail, Details: fmt.Sprintf("%s failed: %s", c.name(), end.State)}
	}
	return plan.CheckResult{Verdict: plan.Pass, Details: c.name() + " passed"}
}

func (c commandProbe) name() string {
	return sanitize.Line(strings.Join(c.spec.Command, " "), maxName)
}

// failure matches a line with a word for a failure, or with a position in a file as compilers print it.
var (
	failure  = lazyregexp.New(`(?i)\b(fail(ed|ure|ures|s|ing)?|errors?|panic|exception)\b|^\s*[^\s:]+:\d+(:\d+)?:|^\s*[✗✕×]`)
	success  = lazyregexp.New(`(?i)\b(0|no) (fail|error|exception)`)
	duration = lazyregexp.New(`\s*\(?\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|sec|seconds|m)\b\)?`)
)

// failures returns the distinct lines that report failures, without durations. They are sorted, because
// the order of parallel tests is random.
func failures(output string) []string {
	var lines []string
	for line := range strings.Lines(output) {
		if failure().MatchString(line) && !success().MatchString(line) {
			lines = append(lines, strings.TrimSpace(duration().ReplaceAllString(line, "")))
		}
	}
	slices.Sort(lines)
	var found findings
	for _, line := range slices.Compact(lines) {
		found.add(line)
	}
	return found.list()
}
