// Command trace reports which requirement of this project is proven by which specs
// and scenarios, with the last result of each:
//
//	go run ./tools/trace -specs specs.json rehearse-runs/demo/report.json
//
// It joins requirements.yaml with the scenarios of a report that claim to prove a
// requirement (proves:) and with the Ginkgo specs that are labelled with its id. It
// exits with 1 if a proof failed or names an unknown id.
package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports"
)

// requirementsYAML lists {id, title} of every requirement, in the order of the report.
//
//go:embed requirements.yaml
var requirementsYAML []byte

// Kind is the kind of a proof.
type Kind string

// The kinds of Proof.
const (
	Scenario Kind = "scenario"
	Spec     Kind = "spec"
)

// Proof is a spec or a scenario that claims to prove requirements.
type Proof struct {
	Kind Kind
	Name string
	// Verdict is the last result. A skipped proof proves nothing.
	Verdict gate.Verdict
	// IDs are the requirements that it names.
	IDs []string
}

// Status summarises the proofs of a requirement.
type Status string

// The statuses. A requirement is Proven only if at least one proof passed and
// none failed, erred or has an unknown verdict.
const (
	Proven  Status = "proven"
	Refuted Status = "failed"
	Unclear Status = "error"    // a proof has no verdict
	Skipped Status = "skipped"  // it has proofs, but none was run
	None    Status = "no proof" // it has no proof
)

// Requirement is one row of the table.
type Requirement struct {
	ID     string
	Title  string
	Status Status
	Proofs []Proof
}

// Table is the traceability report.
type Table struct {
	Requirements []Requirement
	// Unknown lists the ids, mostly misspelt, that proofs name but the list of requirements
	// lacks, each with the first proof that names it.
	Unknown []UnknownID
}

// UnknownID is an id without a requirement.
type UnknownID struct {
	ID    string
	Proof Proof
}

// Complete reports whether every requirement is proven and every id is known.
func (t Table) Complete() bool {
	return len(t.Unknown) == 0 && !slices.ContainsFunc(t.Requirements, func(r Requirement) bool {
		return r.Status != Proven
	})
}

// Requirements joins the list of requirements with proofs, which may be in any order. A
// proof that is given twice counts once for each verdict.
func Requirements(proofs []Proof) (Table, error) {
	var list []struct{ ID, Title string }
	if err := yaml.Load(requirementsYAML, &list, yaml.WithKnownFields()); err != nil {
		return Table{}, fmt.Errorf("read the embedded list of requirements: %w", err)
	}
	t := Table{Requirements: make([]Requirement, len(list))}
	rows := make(map[string]*Requirement, len(list))
	for i, r := range list {
		t.Requirements[i] = Requirement{ID: r.ID, Title: r.Title, Proofs: []Proof{}}
		rows[r.ID] = &t.Requirements[i]
	}
	unknown := map[string]bool{}
	for _, p := range sorted(proofs) {
		for _, id := range unique(p.IDs) {
			row, known := rows[id]
			switch {
			case known:
				row.Proofs = append(row.Proofs, p)
			case !unknown[id]:
				unknown[id] = true
				t.Unknown = append(t.Unknown, UnknownID{id, p})
			}
		}
	}
	for i, row := range t.Requirements {
		t.Requirements[i].Status = judge(row.Proofs)
	}
	slices.SortFunc(t.Unknown, func(a, b UnknownID) int { return cmp.Compare(a.ID, b.ID) })
	return t, nil
}

// judge returns the worst result of the proofs; see Status.
func judge(proofs []Proof) Status {
	count := map[gate.Verdict]int{}
	for _, p := range proofs {
		count[p.Verdict]++
	}
	passed, skipped := count[gate.Pass], count[gate.Skip]
	switch {
	case len(proofs) == 0:
		return None
	case count[gate.Fail] > 0:
		return Refuted
	case passed+skipped < len(proofs):
		return Unclear
	case passed > 0:
		return Proven
	default:
		return Skipped
	}
}

// sorted returns proofs by kind and name, without repetitions.
func sorted(proofs []Proof) []Proof {
	order := func(a, b Proof) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Verdict, b.Verdict), slices.Compare(a.IDs, b.IDs))
	}
	return slices.CompactFunc(slices.SortedFunc(slices.Values(proofs), order), func(a, b Proof) bool {
		return order(a, b) == 0
	})
}

func unique(ids []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

// id matches a requirement id: a letter and two digits. Other labels are ignored.
var id = regexp.MustCompile(`^[A-Z]-[0-9]{2}$`)

// FromReport returns the scenarios of a report that name requirements. Scenarios
// that an interrupted run did not reach are not proofs.
func FromReport(r reports.Report) []Proof {
	var proofs []Proof
	for _, s := range r.Scenarios {
		if len(s.Proves) > 0 {
			proofs = append(proofs, Proof{Kind: Scenario, Name: s.Name, Verdict: s.Verdict, IDs: s.Proves})
		}
	}
	return proofs
}
