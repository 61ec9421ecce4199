package trace

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// columns are the header of CSV.
var columns = []string{"id", "status", "text", "link", "passed", "failed", "no_verdict", "skipped", "proofs"}

// CSV writes the table with a row for each requirement, in the order of the list, and then for each unknown id. The
// last column has the proofs with their verdicts.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	err := out.Write(columns)
	for _, rows := range [][]Row{t.Requirements, t.Unknown} {
		for i := 0; i < len(rows) && err == nil; i++ {
			err = out.Write(rows[i].cells())
		}
	}
	if out.Flush(); err == nil {
		err = out.Error()
	}
	if err != nil {
		return fmt.Errorf("write the requirements: %w", err)
	}
	return nil
}

// cells returns the row of CSV.
func (r *Row) cells() []string {
	count := map[gate.Verdict]int{}
	proofs := make([]string, len(r.Proofs))
	for i, p := range r.Proofs {
		count[p.Verdict]++
		proofs[i] = fmt.Sprintf("%s (%s)", p.Name, p.Verdict)
	}
	passed, failed, skipped := count[gate.Pass], count[gate.Fail], count[gate.Skip]
	number := strconv.Itoa
	return []string{
		harmless(r.ID), string(r.Status), harmless(r.Text), harmless(r.Link), number(passed), number(failed),
		number(len(r.Proofs) - passed - failed - skipped), number(skipped), harmless(strings.Join(proofs, ", ")),
	}
}

// formula matches what a spreadsheet takes for the beginning of a formula: at the beginning of a cell, and after a
// semicolon, which separates cells in many languages.
var formula = lazyregexp.New(`(^|;)(\s*)([=+\-@＝＋－＠])`)

// harmless returns a text as a cell of one line that no spreadsheet computes: an apostrophe precedes what could begin a
// formula.
func harmless(text string) string {
	return formula().ReplaceAllString(sanitize.Line(text, 0), "${1}'${2}${3}")
}
