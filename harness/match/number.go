package match

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/stat"
)

// Calls matches the number of calls to the model, failed ones included: an int, or a matcher for an
// int.
func Calls(number any) types.GomegaMatcher {
	return count("calls", number,
		func(n int) string { return format.Plural(n, "call") },
		func(f *measure.Facts) (int, bool) { return f.Calls.Total, true })
}

// CallsFor matches the number of calls with a purpose, which an agent sets in the request's
// metadata.
func CallsFor(purpose string, number any) types.GomegaMatcher {
	of := " of purpose " + quote(purpose)
	return count("calls"+of, number,
		func(n int) string { return format.Plural(n, "call") + of },
		func(f *measure.Facts) (int, bool) { return f.Calls.By[purpose], true })
}

// Tokens matches the number of tokens of all calls, cached ones included. It returns an error if a
// call was answered without usage.
func Tokens(number any) types.GomegaMatcher {
	return count("tokens", number,
		func(n int) string { return format.Plural(n, "token") },
		func(f *measure.Facts) (int, bool) { return f.Tokens.Total, f.Tokens.Known })
}

// count matches a number. phrase formats it with its noun; known is false if the number is only a
// lower bound.
func count(name string, number any, phrase func(int) string, of func(*measure.Facts) (n int, known bool)) types.GomegaMatcher {
	inner, ok := number.(types.GomegaMatcher)
	m := &trials{want: "the number of " + name}
	if !ok {
		m.want = fmt.Sprintf("%v %s", number, name)
	}
	if n, ok := number.(int); ok {
		m.want = phrase(n)
	}
	m.inspect = func(j *harness.Judged) (observation, error) {
		n, known := of(&j.Facts)
		if !known {
			return observation{}, fmt.Errorf("the number is unknown, and at least %d", n)
		}
		if inner != nil {
			ok, err := inner.Match(n)
			return observation{ok: ok, inner: inner, value: n}, err
		}
		ok, err := gomega.BeEquivalentTo(number).Match(n)
		return observation{ok: ok, saw: phrase(n)}, err
	}
	return m
}

// CostAtMost matches if all calls of a trial together cost no more than an amount, such as "0.01
// EUR" or "2 USD". It returns an error if the cost is unknown, unless the known part already
// exceeds the amount.
func CostAtMost(amount string) types.GomegaMatcher {
	var limit quantity.Money
	wrong := limit.UnmarshalText([]byte(amount))
	return &trials{want: "a cost of at most " + amount, inspect: func(j *harness.Judged) (observation, error) {
		if wrong != nil {
			return observation{}, wrong
		}
		c := &j.Facts.Cost
		spent := c.EUR
		if limit.Currency == quantity.USD {
			spent = c.USD
		}
		if !c.Known && spent <= limit.Amount {
			return observation{}, fmt.Errorf("the cost is unknown: %s", c.Why)
		}
		saw := fmt.Sprintf("%s %s", format.Money(spent), limit.Currency)
		if !c.Known {
			saw = "at least " + saw
		}
		return observation{ok: spent <= limit.Amount, saw: saw}, nil
	}}
}

// LatencyAtMost matches if the quantile q of the latencies of a trial's calls, such as 0.95, is at
// most a limit, on the trial's clock. 0.5 is the median, 1 the longest call. It returns an error if
// there was no call, or a call was not timed.
func LatencyAtMost(q float64, limit time.Duration) types.GomegaMatcher {
	want := fmt.Sprintf("a latency of at most %s at quantile %g", limit, q)
	return &trials{want: want, inspect: func(j *harness.Judged) (observation, error) {
		l := &j.Facts.Latency
		switch {
		case !(q > 0 && q <= 1):
			return observation{}, fmt.Errorf("the quantile must be greater than 0 and at most 1, got %g", q)
		case j.Facts.Calls.Total == 0:
			return observation{}, errors.New("there was no call")
		case l.N < j.Facts.Calls.Total:
			return observation{}, fmt.Errorf("%d of %s were timed", l.N, format.Plural(j.Facts.Calls.Total, "call"))
		}
		saw := quantile(l.All, q)
		return observation{ok: saw <= limit, saw: saw.String()}, nil
	}}
}

// quantile rounds to whole nanoseconds: facts are seconds in floating point.
func quantile(seconds []float64, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(seconds))
	value := stat.QuantileValue(len(sorted), func(i int) float64 { return sorted[i] }, q)
	return time.Duration(value*float64(time.Second) + 0.5)
}
