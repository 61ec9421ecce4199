package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	persistcli "github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/agents/react"
	reactcli "github.com/rehearse-dev/rehearse/agents/react/cli"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func (a *app) checkCommand() *cobra.Command {
	var chosen selection
	var prices, form string
	cmd := &cobra.Command{
		Use:   "check [PATTERN...]",
		Short: "Check scenarios, plans, experiments and agent files",
		Long: `check reads scenario files as run does, plans as supervise does, experiments with all that they
name as experiment and tune do, and agent files (*.agent.md) and their tasks as react does. It
reports each problem with file, line and column, the expected form and the nearest valid word. It
runs nothing.

--format sarif writes the problems for code scanning (SARIF 2.1.0), and --json for other programs.

` + selectionHelp + `

Exit codes: 0 no problem was found, 2 a problem was found or nothing was selected.`,
		Example: `  rehearse check scenarios
  rehearse check 'order-*'
  rehearse check 'loop/*' plan.yaml mirror.yaml agents/*.agent.md
  rehearse check --format sarif > check.sarif`,
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.check(args, chosen, prices, form)
		},
	}
	a.selectionFlags(cmd, &chosen)
	pricesFlag(cmd.Flags(), &prices)
	formatFlag(cmd, &form, "the problems", formatTerminal, formatSARIF)
	return cmd
}

// check checks all files before it reports what is wrong.
func (a *app) check(args []string, chosen selection, prices, form string) error {
	table, err := priceTable(prices)
	if err != nil {
		return usage(err)
	}
	opts, err := a.checkedOptions(table)
	if err != nil {
		return usage(err)
	}
	files, rest := sortFiles(args)
	var set []scenarios.Scenario
	var notSelected error
	if len(rest) > 0 || len(args) == 0 {
		var others []otherFile
		set, others, notSelected = a.selectAmong(rest, chosen, table)
		for _, other := range others {
			files[other.kind] = append(files[other.kind], other.inputFile)
		}
		if errors.Is(notSelected, errOnlyOthers) {
			notSelected = nil
		}
	}
	var found scenarios.Diagnostics
	for _, k := range inputKinds() {
		for _, file := range files[k] {
			found = append(found, a.parseFile(k, file, opts)...)
		}
	}
	if found, err = withDiagnostics(found, notSelected); err != nil {
		return usage(err)
	}
	well := []string{}
	if len(set) > 0 {
		well = append(well, format.Plural(len(set), "scenario"))
	}
	if len(found) > 0 && form == formatTerminal {
		return usage(found)
	}
	for _, k := range inputKinds() {
		if n := len(files[k]); n > 0 {
			well = append(well, format.Plural(n, string(k)))
		}
	}
	if form == formatTerminal {
		_, err = fmt.Fprintf(a.stdout, "%s: no problems found\n", strings.Join(well, ", "))
		return err
	}
	return a.printProblems(found, well, form)
}

// printProblems prints the problems as JSON or SARIF. The exit code is the same as for text.
func (a *app) printProblems(found scenarios.Diagnostics, checked []string, form string) error {
	found = append(scenarios.Diagnostics{}, found...) // JSON has an empty list, not null
	var err error
	if form == formatSARIF {
		err = reports.SARIF(a.stdout, toolVersion(), found)
	} else {
		err = reports.JSON(a.stdout, struct {
			Schema   string                `json:"schema"`
			Checked  []string              `json:"checked"`
			Problems scenarios.Diagnostics `json:"problems"`
		}{"rehearse.check/1", checked, found})
	}
	switch {
	case err != nil:
		return noVerdict(err)
	case len(found) > 0:
		return quiet(exitUsage)
	}
	return nil
}

// parseFile returns the problems of a file.
func (a *app) parseFile(k inputKind, f inputFile, opts scenarios.Options) scenarios.Diagnostics {
	switch k {
	case planInput:
		_, found := persistcli.ParsePlan(f.Name, f.Data)
		return found
	case agentInput:
		_, found := reactcli.ParseAgent(f.Name, f.Data)
		return found
	case experimentInput:
		_, found := experiment.Load(f.Name, a.language, opts)
		return found
	default: // taskInput
		_, found := yamlsrc.Decode(f.Name, f.Data, &react.Task{})
		return found
	}
}

// withDiagnostics adds the diagnostics of an error; it returns any other error.
func withDiagnostics(found scenarios.Diagnostics, err error) (scenarios.Diagnostics, error) {
	if err == nil {
		return found, nil
	}
	more, ok := errors.AsType[scenarios.Diagnostics](err)
	if !ok {
		return found, err
	}
	return append(found, more...), nil
}
