// Package status serves the tables of how agents' runs end.
package status

import (
	"fmt"
	"slices"
)

// Row is one way to end.
type Row[S ~string] struct {
	Status   S
	ExitCode int
	Meaning  string
}

// ExitCode is the process exit code that stands for a status; 1 if the table does
// not have it.
func ExitCode[S ~string](table []Row[S], s S) int {
	for _, row := range table {
		if row.Status == s {
			return row.ExitCode
		}
	}
	return 1
}

// Parse is the status of the table with a text. The error names whose status it
// is not.
func Parse[S ~string](table []Row[S], text []byte, whose string) (S, error) {
	s := S(text)
	if !slices.ContainsFunc(table, func(row Row[S]) bool { return row.Status == s }) {
		return "", fmt.Errorf("%q is not a status of %s", text, whose)
	}
	return s, nil
}
