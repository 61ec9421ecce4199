package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
)

// The reporters of run and merge.
const (
	reporterSummary = "summary"
	reporterTable   = "table"
	reporterDots    = "dots"
	reporterTAP     = "tap"
	reporterJSON    = "json"
)

var reporterNames = []string{reporterSummary, reporterTable, reporterDots, reporterTAP, reporterJSON}

// reporter writes the result of a run to a file, or to standard output if file is empty.
type reporter struct{ name, file string }

// reporters are the values of --reporter.
type reporters []reporter

// String implements pflag.Value.
func (r *reporters) String() string { return "" }

// Type implements pflag.Value.
func (r *reporters) Type() string { return "name[=file]" }

// Set implements pflag.Value.
func (r *reporters) Set(text string) error {
	name, file, toFile := strings.Cut(text, "=")
	switch {
	case !slices.Contains(reporterNames, name):
		return fmt.Errorf("%q is not a reporter; expected one of %s", name, joined(reporterNames))
	case toFile && file == "":
		return fmt.Errorf("%s= lacks the name of a file; write %s=FILE, or %s for standard output", name, name, name)
	case toFile && name == reporterDots:
		return errors.New("dots show progress, so they cannot be written to a file")
	}
	if i := slices.IndexFunc(*r, func(x reporter) bool { return x.file == file }); i >= 0 {
		where := "standard output"
		if file != "" {
			where = file
		}
		return fmt.Errorf("%s and %s would both write to %s; give one of them a file, such as %s=out.%s", (*r)[i].name, name, where, name, name)
	}
	*r = append(*r, reporter{name, file})
	return nil
}

// onScreen returns the reporter of standard output.
func (s *showing) onScreen() string {
	for _, r := range s.reporters {
		if r.file == "" {
			return r.name
		}
	}
	if s.asJSON {
		return reporterJSON
	}
	return reporterSummary
}

// reportRun writes the report with the reporters of the flags.
func (a *app) reportRun(report *reports.Report, flags showing) error {
	for _, r := range flags.reporters {
		if r.file == "" {
			continue
		}
		err := atomicdir.ReplaceWith(r.file, func(w io.Writer) error { return a.writeRun(w, report, r.name, flags) })
		if err != nil {
			return err
		}
	}
	return a.writeRun(a.stdout, report, flags.onScreen(), flags)
}

func (a *app) writeRun(w io.Writer, report *reports.Report, name string, flags showing) error {
	detail := flags.detail
	switch name {
	case reporterTAP:
		return reports.TAP(w, *report)
	case reporterJSON:
		return reports.JSON(w, *report)
	case reporterTable:
		detail = detailFlags{verbose: true}
	case reporterDots:
		detail = detailFlags{quiet: true}
	}
	return a.write(w, runDocument(*report, detail, flags.failuresOnly), formatTerminal)
}
