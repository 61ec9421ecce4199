package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

// maxSpecs is the maximum size of a report of specs, in bytes. 2,000 specs take about
// 10 MB.
const maxSpecs = 256 << 20

// suite is the part of a Ginkgo report that this program reads. It does not use Ginkgo's types,
// because they would link a test framework; a spec compares the two.
type suite struct {
	SuiteLabels []string
	SpecReports []spec
}

type spec struct {
	ContainerHierarchyTexts  []string
	ContainerHierarchyLabels [][]string
	LeafNodeType             string
	LeafNodeText             string
	LeafNodeLabels           []string
	State                    string
}

// FromSpecs reads the file that `ginkgo --json-report` writes and returns the
// specs whose labels name requirements: their own labels, and the labels of the containers
// around them and of the suite.
func FromSpecs(r io.Reader) ([]trace.Proof, error) {
	limited := &io.LimitedReader{R: r, N: maxSpecs + 1}
	dec := json.NewDecoder(limited)
	var proofs []trace.Proof
	err := eachSuite(dec, func(s suite) {
		for _, sp := range s.SpecReports {
			if p, ok := sp.proof(s.SuiteLabels); ok {
				proofs = append(proofs, p)
			}
		}
	})
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("read the specs' report: it is larger than %d MiB", maxSpecs>>20)
	case err != nil:
		return nil, fmt.Errorf("read the specs' report near byte %d (expected the JSON array that `ginkgo --json-report` writes): %w",
			dec.InputOffset(), err)
	}
	return proofs, nil
}

// eachSuite decodes one suite at a time, so that only one is in memory.
func eachSuite(dec *json.Decoder, visit func(suite)) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') {
		return fmt.Errorf("expected an array, got %v", open)
	}
	for dec.More() {
		var s suite
		if err := dec.Decode(&s); err != nil {
			return err
		}
		visit(s)
	}
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("unexpected data after the array")
	}
	return nil
}

// proof returns the spec as a proof, and false if it names no requirement.
func (s spec) proof(suiteLabels []string) (trace.Proof, bool) {
	if s.LeafNodeType != "It" {
		return trace.Proof{}, false // set-up and reporting nodes prove nothing
	}
	var ids []string
	for _, labels := range append([][]string{suiteLabels, s.LeafNodeLabels}, s.ContainerHierarchyLabels...) {
		for _, label := range labels {
			if id.MatchString(label) {
				ids = append(ids, label)
			}
		}
	}
	if len(ids) == 0 {
		return trace.Proof{}, false
	}
	var texts []string
	for _, text := range append(s.ContainerHierarchyTexts[:len(s.ContainerHierarchyTexts):len(s.ContainerHierarchyTexts)], s.LeafNodeText) {
		if text != "" {
			texts = append(texts, text)
		}
	}
	return trace.Proof{Kind: "spec", Name: strings.Join(texts, " "), Verdict: verdict(s.State), IDs: ids}, true
}

// verdict translates the state of a spec. A spec that was interrupted, or has an unknown
// state, has no verdict.
func verdict(state string) gate.Verdict {
	switch state {
	case "passed":
		return gate.Pass
	case "failed", "panicked", "timedout":
		return gate.Fail
	case "pending", "skipped":
		return gate.Skip
	default:
		return gate.Error
	}
}
