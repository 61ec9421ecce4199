// Package evidence states what a run was and which files it wrote, and signs the statement, so that others can
// check later that nobody has replaced them.
//
// A statement is in-toto's (https://github.com/in-toto/attestation, Statement v1) with SLSA's provenance
// (https://slsa.dev/spec/v1.0/provenance) as its predicate. Its signature is OpenSSH's (PROTOCOL.sshsig), which
// ssh-keygen -Y verify checks as well.
package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
)

// The types of a statement, and the meaning of its parameters.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	project       = "https://github.com/rehearse-dev/rehearse"
	buildType     = project + "/blob/main/docs/reference/evidence.md"
)

// Statement says which files a run wrote, and how it was made.
type Statement struct {
	Type          string     `json:"_type"`
	Subject       []Resource `json:"subject"`
	PredicateType string     `json:"predicateType"`
	Predicate     Provenance `json:"predicate"`
}

// Resource is a file or a commit, with its digests by algorithm.
type Resource struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      map[string]string `json:"digest,omitempty"`
	Annotations map[string]any    `json:"annotations,omitempty"`
}

// Provenance says how a run was made.
type Provenance struct {
	BuildDefinition BuildDefinition `json:"buildDefinition"`
	RunDetails      RunDetails      `json:"runDetails"`
}

// BuildDefinition has what determined the result.
type BuildDefinition struct {
	BuildType          string     `json:"buildType"`
	ExternalParameters Parameters `json:"externalParameters"`
	InternalParameters Prices     `json:"internalParameters"`
	// ResolvedDependencies are the commit that was checked out, and the files of the scenarios.
	ResolvedDependencies []Resource `json:"resolvedDependencies"`
}

// Parameters are what the user chose.
type Parameters struct {
	Command string            `json:"command"`
	By      string            `json:"by,omitempty"`
	Branch  string            `json:"branch,omitempty"`
	Job     string            `json:"job,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Prices are the dates of the price table and of its exchange rate.
type Prices struct {
	Prices    string  `json:"prices"`
	EURPerUSD float64 `json:"eur_per_usd,omitzero"`
	RateDate  string  `json:"rate_date,omitempty"`
}

// RunDetails name the program that made the run, and when.
type RunDetails struct {
	Builder  Builder  `json:"builder"`
	Metadata Metadata `json:"metadata"`
}

// Builder is the program. Version has the versions of its parts by name.
type Builder struct {
	ID      string            `json:"id"`
	Version map[string]string `json:"version"`
}

// Metadata is when the run was made. InvocationID is the id of the run, which equal runs share.
type Metadata struct {
	InvocationID string    `json:"invocationId"`
	StartedOn    time.Time `json:"startedOn,omitzero"`
	FinishedOn   time.Time `json:"finishedOn,omitzero"`
}

// recordingName is the name of the recording, whose subject also has its last hash.
const recordingName = "recording.jsonl"

// New returns the statement of a run. files are the SHA-256 hashes of the run's files by name, in hex; heads are its
// scenarios; version has the versions of the program's parts.
func New(run reports.Run, from reports.Origin, version, files map[string]string, heads []record.Scenario) Statement {
	s := Statement{Type: statementType, PredicateType: predicateType}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		subject := resource(name, files[name])
		if name == recordingName {
			subject.Annotations = map[string]any{"last_hash": run.LastHash, "lines": run.Lines}
		}
		s.Subject = append(s.Subject, subject)
	}
	s.Predicate.BuildDefinition = BuildDefinition{
		BuildType: buildType,
		ExternalParameters: Parameters{
			Command: from.Command, By: from.By, Branch: from.Branch, Job: from.CI, Labels: run.Labels,
		},
		InternalParameters:   Prices{Prices: run.Prices, EURPerUSD: run.EURPerUSD, RateDate: run.RateDate},
		ResolvedDependencies: dependencies(from, heads),
	}
	s.Predicate.RunDetails = RunDetails{
		Builder:  Builder{ID: project, Version: version},
		Metadata: Metadata{InvocationID: run.ID, StartedOn: from.Began, FinishedOn: from.Ended},
	}
	return s
}

func resource(name, sha256 string) Resource {
	return Resource{Name: name, Digest: map[string]string{"sha256": sha256}}
}

// dependencies returns the commit and the files of the scenarios, each once.
func dependencies(from reports.Origin, heads []record.Scenario) []Resource {
	list := []Resource{}
	if from.Commit != "" {
		list = append(list, Resource{
			URI: "git+commit", Digest: map[string]string{"gitCommit": from.Commit},
			Annotations: map[string]any{"modified": from.Dirty, "untracked": from.Untracked},
		})
	}
	known := map[string]bool{}
	for i := range heads {
		for name, sum := range heads[i].SourceFiles() {
			if key := name + " " + sum; !known[key] {
				known[key] = true
				list = append(list, resource(name, sum))
			}
		}
	}
	return list
}

// Encode returns the statement as it is signed and stored.
func (s *Statement) Encode() ([]byte, error) {
	text, err := format.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the statement: %w", err)
	}
	return append(text, '\n'), nil
}

// Parse reads a statement of a run.
func Parse(text []byte) (Statement, error) {
	var s Statement
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the statement: it is damaged: %w", err)
	}
	if s.Type != statementType || s.PredicateType != predicateType || s.Predicate.BuildDefinition.BuildType != buildType {
		return s, errors.New("read the statement: it is not the statement of a run of this program (" +
			fmt.Sprintf("%.100q, %.100q)", s.Type, s.Predicate.BuildDefinition.BuildType))
	}
	return s, nil
}

// Origin returns when and how the run was made, according to the statement.
func (s *Statement) Origin() reports.Origin {
	p, when := &s.Predicate.BuildDefinition.ExternalParameters, &s.Predicate.RunDetails.Metadata
	from := reports.Origin{Began: when.StartedOn, Ended: when.FinishedOn, By: p.By}
	from.Command, from.Branch, from.CI = p.Command, p.Branch, p.Job
	for _, d := range s.Predicate.BuildDefinition.ResolvedDependencies {
		if commit := d.Digest["gitCommit"]; commit != "" {
			from.Commit = commit
			from.Dirty, _ = d.Annotations["modified"].(bool)
			untracked, _ := d.Annotations["untracked"].(float64)
			from.Untracked = int(untracked)
		}
	}
	return from
}

// Digests returns the SHA-256 hashes of the run's files by name.
func (s *Statement) Digests() map[string]string {
	files := make(map[string]string, len(s.Subject))
	for _, subject := range s.Subject {
		files[subject.Name] = subject.Digest["sha256"]
	}
	return files
}
