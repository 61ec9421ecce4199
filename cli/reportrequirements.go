package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/reports/trace"
	"github.com/rehearse-dev/rehearse/scenarios/requirement"
)

// requirementFormats are the formats of report --requirements.
var requirementFormats = []string{formatComment, formatCSV, formatHTML, formatJSON, formatMarkdown, formatTerminal}

// validateRequirements refuses flags that do not fit --requirements.
func (f reportFlags) validateRequirements() error {
	switch {
	case f.requirements == "" && f.format == formatCSV:
		return errors.New("--format csv is for --requirements FILE")
	case f.requirements == "" && f.requireCovered:
		return errors.New("--require-covered is for --requirements FILE")
	case f.requirements != "" && f.verify:
		return errors.New("--requirements and --verify exclude each other")
	case f.requirements != "" && !slices.Contains(requirementFormats, f.format):
		return fmt.Errorf("--requirements has the formats %s", joined(requirementFormats))
	}
	return nil
}

// reportRequirements writes which requirements of a list a run proves.
func (a *app) reportRequirements(recording string, in *rundir.Recording, flags reportFlags) (int, error) {
	list, err := requirement.Read(flags.requirements)
	if err != nil {
		return exitUsage, usage(err)
	}
	report, err := in.Report()
	if err != nil {
		return exitNoVerdict, err
	}
	t := trace.Of(list, reports.Proofs(report))
	err = a.output(flags.out, false, recording, func(w io.Writer) error {
		if flags.format == formatCSV {
			return t.CSV(w)
		}
		d := document{reports.RequirementsDocument(t, report), requirementsValue{trace.Schema, report.Run, report.Verdict, t}, report.Run.Tool}
		d.Origin = append(in.Origin().Facts(), report.Run.Facts()...)
		return a.write(w, d, flags.format)
	})
	code := exitCode(report)
	if code == exitPass && flags.requireCovered && !t.Covered() {
		code = exitFail
		fmt.Fprintf(a.stderr, "--require-covered: %s of %s not proven\n",
			format.Int(len(t.Requirements)-t.Totals[trace.Proven]), format.Count(len(t.Requirements), "requirement"))
	}
	return code, err
}

// requirementsValue is the JSON form.
type requirementsValue struct {
	Schema  string       `json:"schema"`
	Run     reports.Run  `json:"run"`
	Verdict gate.Verdict `json:"verdict"`
	*trace.Table
}
