package reports

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// TAP writes the report in version 14 of the Test Anything Protocol: a test point for each problem of the
// run and for each scenario, with a diagnostic block if it did not pass. Scenarios that were not run count
// in the plan but have no test point, which is a failure. An interrupted run bails out.
func TAP(w io.Writer, r Report) error {
	scenarios := attributed(r)
	var problems []annotation
	for _, a := range annotations(r) {
		if a.name == "" {
			problems = append(problems, a)
		}
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "TAP version 14\n1..%d\n", len(scenarios)+len(problems)+len(r.NotRun))
	n := 0
	for _, a := range problems {
		n++
		fmt.Fprintf(out, "not ok %d - %s\n", n, tapText(a.title))
		tapDiagnostic(out, a)
	}
	for _, s := range scenarios {
		n++
		switch s.Verdict {
		case gate.Pass:
			fmt.Fprintf(out, "ok %d - %s\n", n, tapText(s.Name))
		case gate.Skip:
			fmt.Fprintf(out, "ok %d - %s # SKIP %s\n", n, tapText(s.Name), tapText(s.skipMessage()))
		default:
			fmt.Fprintf(out, "not ok %d - %s\n", n, tapText(s.Name))
			tapDiagnostic(out, s.annotation())
		}
	}
	if r.Interrupted {
		fmt.Fprintln(out, "Bail out! interrupted")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the report as TAP: %w", err)
	}
	return nil
}

// tapText returns a text on one line, in which nothing begins a directive.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(sanitize.Line(s, maxName))
}

// tapDiagnostic writes a block of YAML, whose texts are quoted as in JSON.
func tapDiagnostic(w io.Writer, a annotation) {
	severity := "fail"
	if a.broken {
		severity = "error"
	}
	fmt.Fprintf(w, "  ---\n  severity: %s\n  rule: %s\n", severity, yamlText(a.rule))
	if a.file != "" {
		fmt.Fprintf(w, "  at:\n    file: %s\n    line: %d\n", yamlText(a.file), a.line)
	}
	fmt.Fprintln(w, "  findings:")
	for _, line := range a.lines {
		fmt.Fprintf(w, "    - %s\n", yamlText(line))
	}
	fmt.Fprintln(w, "  ...")
}

// yamlText returns a text between double quotes. sanitize.Line removes all other characters that YAML does
// not accept there.
func yamlText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sanitize.Line(s, maxMessage)) + `"`
}
