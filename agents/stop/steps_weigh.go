package stop

import "time"

// kind is what sort of work the verb of a step names.
type kind uint8

// The kinds of work.
const (
	other kind = iota
	check
	edit
	create
	rebuild
	describe
	deliver
	report
)

var kindNames = []string{"other", "check", "edit", "create", "rebuild", "describe", "deliver", "report"}

// estimates are minutes for simple, moderate and complex work of each kind. They
// are round figures of what a coding agent takes, to order and to sum steps by;
// nothing was measured.
var estimates = [...][3]time.Duration{
	other:    {5, 15, 45},
	check:    {2, 5, 15},
	edit:     {5, 15, 45},
	create:   {10, 30, 90},
	rebuild:  {15, 45, 120},
	describe: {5, 15, 40},
	deliver:  {3, 10, 30},
	report:   {1, 2, 5},
}

// weigh estimates a step by stated rules. Points: 1 if the work creates, 2 if it
// rebuilds; 1 if it reaches far ("all", "throughout"); 1 for three objects or
// more; 1 if it takes more than 20 words to say. No point is simple, one or two
// are moderate, more are complex.
func (x *extractor) weigh(p piece) (Complexity, time.Duration) {
	const long, objects = 20, 3
	k, points := x.kindOf(p), 0
	switch k {
	case create:
		points = 1
	case rebuild:
		points = 2
	default:
	}
	far, several := false, 1
	for i := p.first; i < p.end; i++ {
		far = far || x.is(i, wide)
		if i > p.first && (x.is(i, conjoining) || x.gapHas(i, ",")) {
			several++
		}
	}
	for _, counts := range []bool{far, several >= objects, p.end-p.first > long} {
		if counts {
			points++
		}
	}
	level := min((points+1)/2, 2)
	return []Complexity{Simple, Moderate, Complex}[level], estimates[k][level] * time.Minute
}

// kindOf returns the kind of the first word of a piece that has one.
func (x *extractor) kindOf(p piece) kind {
	const reach = 4
	for _, w := range x.doc.Words[p.first:min(p.end, p.first+reach)] {
		if k := x.small.kind(w.Fold); k != other {
			return k
		}
	}
	return other
}
