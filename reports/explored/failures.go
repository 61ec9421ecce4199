package explored

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
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
func Failures(r *result.Exploration) []Failure {
	found := map[string]int{}
	var list []Failure
	first := map[string]bool{} // Smallest is of a cell that breaks this before all else
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != result.Failed {
			continue
		}
		leading := true
		for _, f := range c.Findings {
			if f.Severity != gate.Failing {
				continue
			}
			k := result.FindingClass(f)
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
func smallest(c *result.Cell) []string {
	if len(c.Shrunk) > 0 {
		return c.Shrunk
	}
	return c.Perturb
}

// smaller reports whether c shows a failure with fewer perturbations, or as few of
// which it is certain that they break this: a cell is shrunk for what it breaks first.
func smaller(c *result.Cell, than *Failure, certain bool) bool {
	a, b := len(smallest(c)), len(than.Smallest)
	return a < b || a == b && certain
}

// tally counts the cell under what happened, without where.
func tally(list []Tally, c *result.Cell) []Tally {
	what := string(c.Family)
	if ps := smallest(c); len(ps) == 1 {
		if at, ok := placeOf(ps[0]); ok {
			what = at.head()
		}
	}
	return count(list, what)
}

// count counts one more run of a kind.
func count(list []Tally, what string) []Tally {
	for i := range list {
		if list[i].What == what {
			list[i].Runs++
			return list
		}
	}
	return append(list, Tally{what, 1})
}

// Reasons counts what the findings of all cells of one outcome say, most frequent
// first: why perturbations could not happen, with those that could not, and what the
// harness could not do.
func Reasons(r *result.Exploration, o result.Outcome) []Tally {
	var list []Tally
	var kinds [][]Tally // of each reason
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != o {
			continue
		}
		why, kind := reason(c.Findings)
		at := slices.IndexFunc(list, func(t Tally) bool { return t.What == why })
		if at < 0 {
			at = len(list)
			list, kinds = append(list, Tally{What: why}), append(kinds, nil)
		}
		list[at].Runs++
		if kind != "" {
			kinds[at] = count(kinds[at], kind)
		}
	}
	for i := range list {
		if kinds[i] != nil {
			list[i].What += ": " + tallies(kinds[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Tally) int { return b.Runs - a.Runs })
	return list
}

// reason is why a run shows nothing, and of which kind of perturbation that is said.
func reason(findings []gate.Finding) (why, kind string) {
	i := slices.IndexFunc(findings, func(f gate.Finding) bool { return f.Severity == gate.Broken })
	if i < 0 {
		return "nothing says why", ""
	}
	f := findings[i]
	if perturb, why, ok := strings.Cut(f.Evidence, ": "); ok {
		if at, ok := placeOf(perturb); ok {
			return why, at.head()
		}
	}
	if f.Evidence == "" {
		return f.Message, ""
	}
	return f.Message + ": " + f.Evidence, ""
}
