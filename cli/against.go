package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/reports"
)

// comparisonFile is the comparison of a run with its baseline, in the folder of the
// run, from which reports take it.
const comparisonFile = "comparison.json"

// maxComparison bounds what is read of it.
const maxComparison = 256 << 20

// readComparison reads what a run with a baseline left; nil if it left nothing.
func readComparison(path string) (*compare.Result, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	data, err := input.ReadFile("comparison", path, maxComparison)
	if err != nil {
		return nil, err
	}
	var c compare.Result
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("read the comparison %s: %w; run the scenarios again", path, err)
	}
	if c.Schema != compare.Schema {
		return nil, fmt.Errorf("read the comparison %s: its schema is %q, and this program reads %q; run the scenarios again", path, c.Schema, compare.Schema)
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("read the comparison %s: %w; it is not as it was written, so run the scenarios again", path, err)
	}
	return &c, nil
}

// against compares a run with a baseline. Nil is a run without one.
type against struct {
	before compare.Baseline
	// file is that of the baseline, run the folder of the run.
	file, run string
	builder   compare.Builder
}

// baselineFlag adds the flag that asks for a baseline; alone it means the usual file.
func baselineFlag(f *pflag.FlagSet, value *string) {
	f.Var((*baselineValue)(value), "baseline", "compare the run with this `file` of rehearse bless; alone: "+compare.BaselineFile)
	f.Lookup("baseline").NoOptDefVal = compare.BaselineFile
}

// baselineValue is the file of a baseline. An empty one, as of a variable that is not set,
// is refused: it would switch the comparison off.
type baselineValue string

// String implements pflag.Value.
func (v *baselineValue) String() string { return string(*v) }

// Type implements pflag.Value.
func (v *baselineValue) Type() string { return "file" }

// Set implements pflag.Value.
func (v *baselineValue) Set(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("the name of the file is empty, as if a variable was not set; write --baseline alone for " + compare.BaselineFile)
	}
	*v = baselineValue(text)
	return nil
}

// openBaseline reads the baseline that the flag asks for; nil if it does not. Args are
// the arguments beside it, among which a file that belongs to the flag may be. An
// error has its exit code.
func openBaseline(file string, args []string) (*against, error) {
	if file == "" {
		return nil, nil
	}
	for _, arg := range args {
		if strings.HasSuffix(arg, ".json") {
			return nil, usage(fmt.Errorf("%s is not a scenario; for another baseline write --baseline=%s", arg, arg))
		}
	}
	before, err := readBaseline(file)
	if err != nil {
		return nil, err
	}
	if len(before.Scenarios) == 0 {
		return nil, usage(errors.New("the baseline " + file + " has no scenario, so that nothing could be worse; bless a run again: " + blessCommand("RUN", file)))
	}
	return &against{before: before, file: file}, nil
}

// of sets the run that is compared with it.
func (a *against) of(folder string, run record.Run) *against {
	if a == nil {
		return nil
	}
	a.run, a.builder.Run = folder, run
	return a
}

// add adds a trial of the run.
func (a *against) add(j *harness.Judged) {
	if a != nil {
		a.builder.Add(*j.Scenario, j.Trial.Head.N, &j.Facts, j.Findings)
	}
}

// compare puts the comparison into the report of the run.
func (a *against) compare(report *reports.Report) error {
	if a == nil {
		return nil
	}
	now, err := a.builder.Close()
	if err != nil {
		return err
	}
	wrong := runFindings(*report, "the run")
	result := compare.Compare(a.before, now, compare.Options{Findings: wrong})
	if result.Verdict != gate.Pass && len(wrong) == 0 {
		result.Bless = acceptCommand(a.run, a.file, &now)
	}
	report.Compare(result)
	return nil
}
