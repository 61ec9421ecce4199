package reports

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// The parts of SARIF 2.1.0 that SARIF writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		HelpURI          string       `json:"helpUri"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifMessage    `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
	}
)

// project is the address of this project.
const project = "https://github.com/rehearse-dev/rehearse"

// SARIF writes the problems of files in the Static Analysis Results Interchange Format 2.1.0, which editors and
// code scanning read. version is the version of this program. Relative paths of files stay relative.
func SARIF(w io.Writer, version string, found yamlsrc.Diagnostics) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "rehearse", Version: strings.TrimPrefix(version, "v"), InformationURI: project,
			Rules: []sarifRule{{
				ID: "invalid-file", ShortDescription: sarifMessage{"A scenario, plan, experiment or agent file cannot be used."},
				HelpURI: project + "/blob/main/docs/reference/scenarios.md",
			}},
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	for _, d := range found {
		place := d.File
		text := d
		text.File, text.Line = "", 0
		r := sarifResult{RuleID: "invalid-file", Level: "error", Message: sarifMessage{strings.TrimPrefix(text.Error(), ": ")}}
		if strings.HasPrefix(place, "-") || strings.HasPrefix(place, "(") { // a flag or the patterns, not a file
			r.Message.Text = d.Error()
		} else {
			at := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{fileURI(place)}}}
			if d.Line > 0 {
				at.Physical.Region = &sarifRegion{d.Line, d.Column}
			}
			if d.Path != "" {
				at.Logical = []sarifLogical{{d.Path}}
			}
			r.Locations = []sarifLocation{at}
		}
		run.Results = append(run.Results, r)
	}
	return JSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// fileURI returns the reference to a file: relative, or absolute with the scheme file.
func fileURI(file string) string {
	slashed := filepath.ToSlash(file)
	switch {
	case strings.HasPrefix(slashed, "/"):
		return (&url.URL{Scheme: "file", Path: slashed}).String()
	case filepath.IsAbs(file): // C:/...
		return (&url.URL{Scheme: "file", Path: "/" + slashed}).String()
	}
	return (&url.URL{Path: slashed}).String()
}
