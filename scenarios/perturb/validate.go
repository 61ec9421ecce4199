package perturb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// The largest values. They are far beyond practical use and keep sums in range.
const (
	maxCount    = 999_999_999
	maxTimes    = 1000
	maxDuration = quantity.Duration(8760 * time.Hour)
)

// answerKinds are the perturbations of an answer, in addition to faults.
var answerKinds = []string{Latency, TextTruncated, TextReformat, TextTranslated, TextPadded}

// kinds are the perturbations of each point.
var kinds = map[Point][]string{
	Call:  slices.Concat(mocks.APIFaults(), mocks.ProcessFaults(), answerKinds),
	Tool:  mcp.Injected(),
	Write: {CrashBefore, CrashAfter, DiskFull},
	Turn:  {Double, Concurrent, Reload, Empty, Long, Stale, Ahead, Restart},
}

// Kinds returns the perturbations of a point.
func Kinds(at Point) []string { return slices.Clone(kinds[at]) }

// Validate returns an error if a perturbation is invalid for every agent. Parse and String are
// inverse for valid ones.
func (p Perturbation) Validate() error {
	if err := p.kind(); err != nil {
		return err
	}
	faulty := p.At == Call && !slices.Contains(answerKinds, p.Do)
	switch {
	case p.N < 1 || p.N > maxCount:
		return fmt.Errorf("the number of the %s must be between 1 and %d, got %d", p.At, maxCount, p.N)
	case faulty && (p.Fault == nil || p.Fault.Kind != p.Do):
		return fmt.Errorf("%s is a fault, but the fault is missing or of another kind", p.Do)
	case !faulty && p.Fault != nil:
		return fmt.Errorf("%s is not a fault, but a fault is set", p.Do)
	case p.Do == Latency && p.At == Call && p.First == 0:
		return errors.New("latency needs the time of the answer; write first=30s")
	case p.Do != Latency && p.First != 0:
		return fmt.Errorf("only %s has first", Latency)
	case p.First < 0 || p.First > maxDuration:
		return fmt.Errorf("first must be at most %s, got %s", maxDuration, p.First)
	case p.At != Write && p.Every != 0:
		return fmt.Errorf("only a write has every")
	case p.Every < 0 || p.Every > maxCount:
		return fmt.Errorf("every must be between 1 and %d, got %d", maxCount, p.Every)
	case faulty:
		return validFault(p.Fault)
	}
	return nil
}

func validFault(f *mocks.Fault) error {
	switch {
	case f.Message != "":
		return errors.New("a perturbation cannot set message")
	case f.Times > maxTimes:
		return fmt.Errorf("times must be at most %d, got %d", maxTimes, f.Times)
	case f.Brings() && f.Times > 1:
		return fmt.Errorf("%s arrives with the complete answer, which is not retried: times must be 1, got %d", f.Kind, f.Times)
	case max(f.RetryAfter, f.Delay) > maxDuration:
		return fmt.Errorf("a duration must be at most %s", maxDuration)
	case f.After != nil && *f.After > maxCount:
		return fmt.Errorf("after must be at most %d, got %d", maxCount, *f.After)
	}
	return f.Validate()
}

// Suits returns an error if the perturbation cannot happen to calls of this kind of backend, a
// command-line agent (a process) or an API. Other requirements depend on the agent.
func (p Perturbation) Suits(process bool) error {
	switch own := slices.Contains(mocks.ProcessFaults(), p.Do); {
	case p.Fault == nil:
	case own && !process:
		return fmt.Errorf("only a command-line agent can show the fault %q; an API can show %s", p.Do, strings.Join(mocks.APIFaults(), ", "))
	case !own && process:
		return fmt.Errorf("a command-line agent cannot show the fault %q; it can show %s", p.Do, strings.Join(mocks.ProcessFaults(), ", "))
	}
	return nil
}
