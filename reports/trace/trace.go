// Package trace joins requirements with the scenarios and specs that prove them.
package trace

import (
	"cmp"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

// Schema names the JSON form of a table about a run.
const Schema = "rehearse.requirements/1"

// Proof is a scenario or a spec that claims to prove requirements.
type Proof struct {
	// Kind is "scenario" or "spec".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Verdict is its last result. A skipped proof proves nothing.
	Verdict gate.Verdict `json:"verdict"`
	// IDs are the requirements that it names.
	IDs []string `json:"-"`
}

// Status summarizes the proofs of a requirement.
type Status string

// The statuses. A requirement is Proven only if at least one proof passed and none failed, erred or has an unknown
// verdict.
const (
	Failing   Status = "failing"
	NoVerdict Status = "no verdict"  // a proof has an error
	Uncovered Status = "not covered" // it has no proof
	Skipped   Status = "skipped"     // it has proofs, but all were skipped
	Proven    Status = "proven"
	// Unknown is the status of an id, often a misspelt one, that proofs name and the list of requirements does not have.
	Unknown Status = "unknown id"
)

// Row is a requirement with its proofs: first those that did not pass, then by kind and name.
type Row struct {
	requirement.Requirement
	Status Status  `json:"status"`
	Proofs []Proof `json:"proofs"`
}

// Table has the requirements of a list.
type Table struct {
	// File is the name of the list.
	File string `json:"file"`
	// Totals count the rows of all statuses.
	Totals map[Status]int `json:"totals"`
	// Requirements are in the order of the list.
	Requirements []Row `json:"requirements"`
	// Unknown has the unknown ids, sorted.
	Unknown []Row `json:"unknown"`
}

// Of joins a list with proofs, which may be in any order. A proof that is given twice counts once for each verdict.
func Of(list *requirement.List, proofs []Proof) *Table {
	t := &Table{File: list.File, Totals: map[Status]int{}, Requirements: make([]Row, len(list.Requirements)), Unknown: []Row{}}
	rows := make(map[string]*Row, len(list.Requirements))
	for i, r := range list.Requirements {
		t.Requirements[i] = Row{Requirement: r, Proofs: []Proof{}}
		rows[r.ID] = &t.Requirements[i]
	}
	unknown := map[string]*Row{}
	for _, p := range sorted(proofs) {
		for _, id := range unique(p.IDs) {
			row := cmp.Or(rows[id], unknown[id])
			if row == nil {
				row = &Row{Requirement: requirement.Requirement{ID: id}, Status: Unknown}
				unknown[id] = row
			}
			row.Proofs = append(row.Proofs, p)
		}
	}
	for i := range t.Requirements {
		row := &t.Requirements[i]
		row.Status = judge(row.Proofs)
		t.Totals[row.Status]++
	}
	for _, row := range unknown {
		t.Unknown = append(t.Unknown, *row)
	}
	slices.SortFunc(t.Unknown, func(a, b Row) int { return cmp.Compare(a.ID, b.ID) })
	for _, s := range []Status{Failing, NoVerdict, Uncovered, Skipped, Proven} {
		t.Totals[s] += 0 // JSON has all of them
	}
	t.Totals[Unknown] = len(t.Unknown)
	return t
}

// Covered reports whether every requirement is proven.
func (t *Table) Covered() bool { return t.Totals[Proven] == len(t.Requirements) }

// judge returns the worst result of the proofs; see Status.
func judge(proofs []Proof) Status {
	count := map[gate.Verdict]int{}
	for _, p := range proofs {
		count[p.Verdict]++
	}
	passed, skipped := count[gate.Pass], count[gate.Skip]
	switch {
	case len(proofs) == 0:
		return Uncovered
	case count[gate.Fail] > 0:
		return Failing
	case passed+skipped < len(proofs):
		return NoVerdict
	case passed > 0:
		return Proven
	default:
		return Skipped
	}
}

// sorted returns proofs without repetitions: first those that did not pass, then by kind and name.
func sorted(proofs []Proof) []Proof {
	urgency := func(p Proof) int { return slices.Index([]gate.Verdict{gate.Fail, gate.Skip, gate.Pass}, p.Verdict) }
	order := func(a, b Proof) int {
		return cmp.Or(cmp.Compare(min(urgency(a), 1), min(urgency(b), 1)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Verdict, b.Verdict), slices.Compare(a.IDs, b.IDs))
	}
	return slices.CompactFunc(slices.SortedFunc(slices.Values(proofs), order), func(a, b Proof) bool {
		return order(a, b) == 0
	})
}

func unique(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}
