package perturb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/mocks"
)

// The largest values. Nothing that runs comes near them; they keep sums in range.
const (
	maxCount    = 999_999_999
	maxTimes    = 1000
	maxDuration = quantity.Duration(8760 * time.Hour)
)

// answerKinds are what happens to an answer, beside faults.
var answerKinds = []string{Latency, TextTruncated, TextReformat, TextTranslated, TextPadded}

// kinds are what can happen at each point.
var kinds = map[Point][]string{
	Call:  slices.Concat(mocks.APIFaults(), mocks.ProcessFaults(), answerKinds),
	Write: {CrashBefore, CrashAfter, DiskFull},
	Turn:  {Double, Concurrent, Reload, Empty, Long, Stale, Ahead, Restart},
}

// Kinds lists what can happen at a point.
func Kinds(at Point) []string { return slices.Clone(kinds[at]) }

// Validate says what is wrong with a perturbation, whatever is driven. One that is
// valid is what Parse makes of its String.
func (p Perturbation) Validate() error {
	if err := p.kind(); err != nil {
		return err
	}
	faulty := p.At == Call && !slices.Contains(answerKinds, p.Do)
	switch {
	case p.N < 1 || p.N > maxCount:
		return fmt.Errorf("the %s is number %d; they are counted from 1 to %d", p.At, p.N, maxCount)
	case faulty && (p.Fault == nil || p.Fault.Kind != p.Do):
		return fmt.Errorf("%s is a fault, and there is none of that kind", p.Do)
	case !faulty && p.Fault != nil:
		return fmt.Errorf("%s is not a fault, and one is given", p.Do)
	case p.Do == Latency && p.At == Call && p.First == 0:
		return errors.New("latency needs to know how long the answer takes; write first=30s")
	case p.Do != Latency && p.First != 0:
		return fmt.Errorf("only %s takes time", Latency)
	case p.First < 0 || p.First > maxDuration:
		return fmt.Errorf("first is %s; it is at most %s", p.First, maxDuration)
	case p.At != Write && p.Every != 0:
		return fmt.Errorf("only at a write there is something that repeats")
	case p.Every < 0 || p.Every > maxCount:
		return fmt.Errorf("every is %d; it is from 1 to %d", p.Every, maxCount)
	case faulty:
		return validFault(p.Fault)
	}
	return nil
}

func validFault(f *mocks.Fault) error {
	switch {
	case f.Message != "":
		return errors.New("a perturbation has no message of its own")
	case f.Times > maxTimes:
		return fmt.Errorf("times is %d; it is at most %d", f.Times, maxTimes)
	case f.Brings() && f.Times > 1:
		return fmt.Errorf("%s comes with the whole answer, so that nobody asks again: it strikes once, not %d times", f.Kind, f.Times)
	case max(f.RetryAfter, f.Delay) > maxDuration:
		return fmt.Errorf("a time is longer than %s", maxDuration)
	case f.After != nil && *f.After > maxCount:
		return fmt.Errorf("after is %d; it is at most %d", *f.After, maxCount)
	}
	return f.Validate()
}

// Suits says why the perturbation cannot happen to calls of this kind of backend, a
// command-line agent (a process) or an API. Whether it can happen elsewhere depends on
// what is driven.
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
