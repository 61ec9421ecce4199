package compare

import (
	"math"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// bounded compares cost or tokens of which one side knows only a lower bound, for example because a
// reply had no usage. Bounds can show that a value is worse; they can show that it is better only
// if it is fully known now. If they differ without deciding, the comparison is lost; equal bounds
// are as good as before.
func bounded(p *pair, b, a *Measure, most float64, x *Comparison) {
	before, now := means(p, b, a)
	d := now - before
	within := math.Abs(d) <= most*math.Abs(before)
	x.Why = atLeast(b, before) + " before and " + atLeast(a, now) + " now"
	if d != 0 {
		x.Why += ": " + share(d, before)
	}
	switch {
	case d > 0 && !within && !a.Known:
		x.Verdict = Worse
		x.Why += ", over the limit of " + format.Limit(most) + " in the known part alone"
	case d > 0 && !within:
		x.lost = true
		x.Why += "; it was only partly known before, so it may or may not be more now"
	case b.Known:
		x.lost = true
		x.Why = unknown(b, a) + ": " + x.Why
	case a.Known && within:
		x.Verdict = Tied
		x.Why += ", within the limit of " + format.Limit(most)
	case a.Known:
		x.Verdict = Better
		x.Why += ", by more than the limit of " + format.Limit(most)
	case within || fewerCalls(p):
		x.Why = unknown(b, a) + ": " + x.Why
	default:
		x.lost = true
		x.Why += "; as many calls were made, so perhaps only less of it is known now"
	}
}

// atLeast formats the value of a side, which may be a lower bound.
func atLeast(m *Measure, value float64) string {
	if m.Known {
		return format.Amount(value, m.Unit)
	}
	return "at least " + format.Amount(value, m.Unit)
}

// fewerCalls reports whether fewer calls are made now, which explains lower use.
func fewerCalls(p *pair) bool {
	b, ok1 := p.before.Measure("calls")
	a, ok2 := p.after.Measure("calls")
	known := ok1 && ok2 && b.Known && a.Known && b.Value != nil && a.Value != nil
	return known && *a.Value < *b.Value
}
