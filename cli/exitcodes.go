package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// ending is a row of the exit codes in a command's help.
type ending struct {
	code            int
	status, meaning string
}

// The width of help texts, and the indent of the meaning of an exit code.
const (
	helpWidth  = 100
	helpIndent = 7
)

// endings explains the exit codes of a command that runs an agent: those of the agent's
// statuses, and usage.
func endings(rows []ending, usage, note string) string {
	rows = append(rows, ending{exitUsage, "usage", usage})
	slices.SortStableFunc(rows, func(a, b ending) int { return cmp.Compare(a.code, b.code) })
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, row := range rows {
		lines := text.WrapSoft(row.status+": "+row.meaning, helpWidth-helpIndent)
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, strings.ReplaceAll(lines, "\n", "\n"+strings.Repeat(" ", helpIndent)))
	}
	b.WriteString(note)
	return b.String()
}
