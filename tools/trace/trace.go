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
	_ "embed"
	"fmt"
	"regexp"

	"github.com/rehearse-dev/rehearse/reports/trace"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

// requirementsYAML lists {id, text} of every requirement, in the order of the report.
//
//go:embed requirements.yaml
var requirementsYAML []byte

// id matches a requirement id: a letter and two digits. Other labels are ignored.
var id = regexp.MustCompile(`^[A-Z]-[0-9]{2}$`)

// tableOf joins the requirements of this project with proofs.
func tableOf(proofs []trace.Proof) (*trace.Table, error) {
	list, found := requirement.Parse("requirements.yaml", requirementsYAML)
	if err := found.Err(); err != nil {
		return nil, fmt.Errorf("read the embedded list of requirements: %w", err)
	}
	return trace.Of(list, proofs), nil
}
