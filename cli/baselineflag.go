package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// baselineFlag adds --baseline; without a value it is the default file.
func baselineFlag(f *pflag.FlagSet, value *string) {
	f.Var((*baselineValue)(value), "baseline", "compare the run with this `file` of rehearse bless; alone: "+compare.BaselineFile)
	f.Lookup("baseline").NoOptDefVal = compare.BaselineFile
}

// baselineValue is the file of a baseline. An empty one, as of an unset variable, is an error: it
// would switch the comparison off.
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

// openBaseline reads the baseline of the flag; nil without the flag. args are the arguments of
// the command, among which a file for the flag may be.
func openBaseline(file string, args []string) (*rundir.BaselineSource, error) {
	if file == "" {
		return nil, nil
	}
	for _, arg := range args {
		if strings.HasSuffix(arg, ".json") {
			return nil, usage(fmt.Errorf("%s is not a scenario; for another baseline write --baseline=%s", arg, arg))
		}
	}
	source, err := rundir.OpenBaseline(file)
	if err != nil {
		return nil, usage(err)
	}
	return source, nil
}
