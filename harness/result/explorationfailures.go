package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

// Failure is a distinct failure of an exploration.
type Failure struct {
	// Finding is that of the run with the smallest perturbation.
	Finding gate.Finding
	// Cell is the index of that run in Exploration.Cells.
	Cell int
	// Smallest is its perturbation, and Command the command that repeats it.
	Smallest []string
	Command  string
	// Runs is the number of runs with this failure.
	Runs int
	// By counts the runs by kind of perturbation, in the order of the plan.
	By []Tally
}

// Tally counts runs of one kind.
type Tally struct {
	What string
	Runs int
}

// Failures returns the distinct failures, in the order of the plan.
func (r *Exploration) Failures() []Failure {
	found := map[string]int{}
	var list []Failure
	first := map[string]bool{} // failures whose Smallest is of a cell that has this failure first
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != Failed {
			continue
		}
		leading := true
		for _, f := range c.Findings {
			if f.Severity != gate.Failing {
				continue
			}
			k := FindingClass(f)
			at, known := found[k]
			if !known {
				at = len(list)
				found[k] = at
				list = append(list, Failure{})
			}
			list[at].Runs++
			list[at].By = tallyCell(list[at].By, c)
			if !known || isSmaller(c, &list[at], leading && !first[k]) {
				list[at].Cell, list[at].Finding, list[at].Smallest, list[at].Command = i, f, smallestPerturbation(c), c.Command
				first[k] = leading
			}
			leading = false
		}
	}
	return list
}

// smallestPerturbation returns the shrunk perturbation of a failed cell, or its own.
func smallestPerturbation(c *Cell) []string {
	if len(c.Shrunk) > 0 {
		return c.Shrunk
	}
	return c.Perturb
}

// isSmaller reports whether c has fewer perturbations than a failure, or as many and is certain
// to cause it: a cell is shrunk for its first failure.
func isSmaller(c *Cell, than *Failure, certain bool) bool {
	a, b := len(smallestPerturbation(c)), len(than.Smallest)
	return a < b || a == b && certain
}

// tallyCell counts a cell by its kind of perturbation.
func tallyCell(list []Tally, c *Cell) []Tally {
	what := string(c.Family)
	if ps := smallestPerturbation(c); len(ps) == 1 {
		if at, ok := parsePlace(ps[0]); ok {
			what = at.head()
		}
	}
	return addToTally(list, what)
}

// addToTally counts one more run of a kind.
func addToTally(list []Tally, what string) []Tally {
	for i := range list {
		if list[i].What == what {
			list[i].Runs++
			return list
		}
	}
	return append(list, Tally{what, 1})
}

// Reasons counts the findings of the cells with an outcome, the most frequent first: why
// perturbations did not happen, or why the harness could not judge a run.
func (r *Exploration) Reasons(o Outcome) []Tally {
	var list []Tally
	var kinds [][]Tally // of each reason
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Outcome != o {
			continue
		}
		why, kind := reasonOf(c.Findings)
		at := slices.IndexFunc(list, func(t Tally) bool { return t.What == why })
		if at < 0 {
			at = len(list)
			list, kinds = append(list, Tally{What: why}), append(kinds, nil)
		}
		list[at].Runs++
		if kind != "" {
			kinds[at] = addToTally(kinds[at], kind)
		}
	}
	for i := range list {
		if kinds[i] != nil {
			list[i].What += ": " + TallyText(kinds[i])
		}
	}
	slices.SortStableFunc(list, func(a, b Tally) int { return b.Runs - a.Runs })
	return list
}

// reasonOf returns why a run has no result, and the kind of perturbation that this is about.
func reasonOf(findings []gate.Finding) (why, kind string) {
	i := slices.IndexFunc(findings, func(f gate.Finding) bool { return f.Severity == gate.Broken })
	if i < 0 {
		return "no reason was recorded", ""
	}
	f := findings[i]
	if perturb, why, ok := strings.Cut(f.Evidence, ": "); ok {
		if at, ok := parsePlace(perturb); ok {
			return why, at.head()
		}
	}
	if f.Evidence == "" {
		return f.Message, ""
	}
	return f.Message + ": " + f.Evidence, ""
}

// TallyText returns tallies as text, such as "reset-mid-stream (12), empty-text (1)".
func TallyText(list []Tally) string {
	const most = 8
	var parts []string
	for i, t := range list {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more kinds", len(list)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", t.What, t.Runs))
	}
	return strings.Join(parts, ", ")
}

// Verdict returns Error if a run has no verdict or no perturbation took effect, Fail if a run
// broke an invariant, and Pass otherwise.
func (r *Exploration) Verdict() gate.Verdict {
	n := r.Count()
	judged := n[Survived] + n[Degraded] + n[Failed]
	switch {
	case judged == 0 || judged+n[Unfired] < len(r.Cells): // an unknown outcome is an error, too
		return gate.Error
	case n[Failed] > 0:
		return gate.Fail
	}
	return gate.Pass
}
