package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// ending is a row of the exit codes in a command's help.
type ending struct {
	code            int
	status, meaning string
}

// endings explains the exit codes of a command that runs an agent: those of the
// agent's statuses, and usage.
func endings(rows []ending, usage, note string) string {
	rows = append(rows, ending{exitUsage, "usage", usage})
	slices.SortStableFunc(rows, func(a, b ending) int { return cmp.Compare(a.code, b.code) })
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-4d %s: %s\n", row.code, row.status, row.meaning)
	}
	b.WriteString(note)
	return b.String()
}
