package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

// The exit codes.
const (
	exitProven  = 0
	exitRefuted = 1
	exitUsage   = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("trace", flag.ContinueOnError)
	flags.SetOutput(stderr)
	specs := flags.String("specs", "", "JSON reports of Ginkgo, separated by commas")
	if err := flags.Parse(args); err != nil {
		return exitUsage
	}
	table, err := load(flags.Args(), *specs)
	if err == nil {
		err = doc.Terminal(stdout, table.Document(), console.TerminalOf(stdout, os.Getenv))
	}
	if err != nil {
		fmt.Fprintln(stderr, "trace:", err)
		return exitUsage
	}
	if table.Totals[trace.Failing]+table.Totals[trace.Unknown] > 0 {
		return exitRefuted
	}
	return exitProven
}

// load reads a report.json and the specs' reports, and joins them with the requirements.
func load(args []string, specs string) (*trace.Table, error) {
	if len(args) != 1 {
		return nil, errors.New("expected one argument, the report.json of a run")
	}
	proofs, err := readProofs(args[0], readReport)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(specs, ",") {
		if name == "" {
			continue
		}
		more, err := readProofs(name, FromSpecs)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, more...)
	}
	return tableOf(proofs)
}

func readProofs(name string, read func(io.Reader) ([]trace.Proof, error)) ([]trace.Proof, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	proofs, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return proofs, nil
}

// readReport reads the scenarios of a report.json. An altered recording proves nothing.
func readReport(r io.Reader) ([]trace.Proof, error) {
	var report reports.Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, err
	}
	if report.Schema != reports.Schema {
		return nil, fmt.Errorf("the schema is %q; expected %q", report.Schema, reports.Schema)
	}
	if report.Altered {
		return nil, errors.New("the recording was altered after the run")
	}
	return reports.Proofs(report), nil
}
