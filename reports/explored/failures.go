package explored

import (
	"regexp"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
)

// Failure is one thing that is broken, however many runs showed it.
type Failure struct {
	// Finding is that of the run with the smallest perturbation.
	Finding gate.Finding
	// Cell is the index in Result.Cells of the run that led to it.
	Cell int
	// Smallest is that perturbation, and Command what repeats it.
	Smallest []string
	Command  string
	// Runs is how many runs broke the same.
	Runs int
	// By counts these by what happened, in the order of the plan.
	By []Tally
}

// Tally counts runs of one kind.
type Tally struct {
	What string
	Runs int
}

// Failures lists what is broken, each thing once, in the order of the plan.
func Failures(r *survival.Result) []Failure {
	found := map[string]int{}
	var list []Failure
	first := map[string]bool{} // Smallest is of a cell that breaks this before all else
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != survival.Failed {
			continue
		}
		leading := true
		for _, f := range c.Findings {
			if f.Severity != gate.Failing {
				continue
			}
			k := survival.Class(f)
			at, known := found[k]
			if !known {
				at = len(list)
				found[k] = at
				list = append(list, Failure{})
			}
			list[at].Runs++
			list[at].By = tally(list[at].By, c)
			if !known || smaller(c, &list[at], leading && !first[k]) {
				list[at].Cell, list[at].Finding, list[at].Smallest, list[at].Command = i, f, smallest(c), c.Command
				first[k] = leading
			}
			leading = false
		}
	}
	return list
}

// smallest is what breaks a failed cell, shrunk if it was.
func smallest(c *survival.Cell) []string {
	if len(c.Shrunk) > 0 {
		return c.Shrunk
	}
	return c.Perturb
}

// smaller reports whether c shows a failure with fewer perturbations, or as few of
// which it is certain that they break this: a cell is shrunk for what it breaks first.
func smaller(c *survival.Cell, than *Failure, certain bool) bool {
	a, b := len(smallest(c)), len(than.Smallest)
	return a < b || a == b && certain
}

// tally counts the cell under what happened, without where.
func tally(list []Tally, c *survival.Cell) []Tally {
	what := string(c.Family)
	if ps := smallest(c); len(ps) == 1 {
		if at, ok := placeOf(ps[0]); ok {
			what = at.head()
		}
	}
	for i := range list {
		if list[i].What == what {
			list[i].Runs++
			return list
		}
	}
	return append(list, Tally{what, 1})
}

// Reasons counts what the findings of all cells of one outcome say, most frequent
// first: why perturbations could not happen, and what the harness could not do.
func Reasons(r *survival.Result, o survival.Outcome) []Tally {
	var list []Tally
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != o {
			continue
		}
		reason := "nothing says why"
		if i := slices.IndexFunc(c.Findings, func(f gate.Finding) bool { return f.Severity == gate.Broken }); i >= 0 {
			reason = c.Findings[i].Message
			if e := c.Findings[i].Evidence; e != "" {
				reason += ": " + withoutPlace(e)
			}
		}
		at := slices.IndexFunc(list, func(t Tally) bool { return t.What == reason })
		if at < 0 {
			at = len(list)
			list = append(list, Tally{What: reason})
		}
		list[at].Runs++
	}
	slices.SortStableFunc(list, func(a, b Tally) int { return b.Runs - a.Runs })
	return list
}

var placed = regexp.MustCompile(`\b(call|write|turn)=[0-9]+:`)

// withoutPlace makes the reasons of all places one.
func withoutPlace(text string) string { return placed.ReplaceAllString(text, "") }
