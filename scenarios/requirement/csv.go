package requirement

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// bom begins the UTF-8 files of spreadsheets.
const bom = "\ufeff"

// columns are the columns of a CSV file.
var columns = []string{"id", "text", "link"}

// table reads a CSV file with positions.
type table struct {
	file  string
	lines [][]byte
	*csv.Reader
	columns []string // of the header
}

// parseCSV parses a CSV file with a header, without a byte order mark. The separator is the one of comma, semicolon and
// tab that the header has most; rows of empty cells are left out.
func parseCSV(file string, data []byte) (list []Requirement, at position, found yamlsrc.Diagnostics) {
	if problem := notText(data); problem != "" {
		return nil, nil, yamlsrc.Diagnostics{{File: file, Message: problem, Expected: "CSV in UTF-8"}}
	}
	t := table{file: file, lines: bytes.Split(data, []byte("\n")), Reader: csv.NewReader(bytes.NewReader(data))}
	t.Comma = separator(t.lines[0])
	if found = t.header(); len(found) > 0 {
		return nil, nil, found
	}
	var places []map[string]yamlsrc.Diagnostic
	for len(list) <= maxRequirements {
		record, err := t.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return list, nil, yamlsrc.Diagnostics{t.explain(err, record)}
		}
		if !slices.ContainsFunc(record, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			continue
		}
		r, place := t.row(record)
		list, places = append(list, r), append(places, place)
	}
	return list, func(i int, key string) yamlsrc.Diagnostic { return places[i][key] }, nil
}

// notText returns what is wrong with the encoding of a file; empty if nothing is.
func notText(data []byte) string {
	switch {
	case bytes.ContainsRune(data, 0):
		return "the file has NUL bytes, as in UTF-16"
	case !utf8.Valid(data):
		return "the file is not UTF-8"
	}
	return ""
}

// separator returns the separator of a header.
func separator(header []byte) rune {
	best := ','
	for _, r := range ";\t" {
		if bytes.Count(header, []byte(string(r))) > bytes.Count(header, []byte(string(best))) {
			best = r
		}
	}
	return best
}

// header reads the first row.
func (t *table) header() (found yamlsrc.Diagnostics) {
	record, err := t.Read()
	if err != nil {
		return yamlsrc.Diagnostics{t.explain(err, record)}
	}
	report := func(i int, nearest, format string, args ...any) {
		d := t.cell(i, fmt.Sprintf(format, args...))
		d.Nearest, d.Expected = nearest, "one of "+strings.Join(columns, ", ")
		found = append(found, d)
	}
	for i, name := range record {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case !slices.Contains(columns, name):
			report(i, suggest.Nearest(name, columns), "unknown column %q", clip(name))
		case slices.Contains(t.columns, name):
			report(i, "", "the column %q is given twice", name)
		}
		t.columns = append(t.columns, name)
	}
	if len(found) == 0 && !slices.Contains(t.columns, "id") {
		report(0, "", `the column "id" is missing in the header`)
	}
	return found
}

// row returns the requirement of a row, and where its cells are.
func (t *table) row(record []string) (r Requirement, at map[string]yamlsrc.Diagnostic) {
	at = make(map[string]yamlsrc.Diagnostic, len(record))
	for i, cell := range record {
		cell = strings.TrimSpace(cell)
		switch at[t.columns[i]] = t.cell(i, ""); t.columns[i] {
		case "id":
			r.ID = cell
		case "text":
			r.Text = cell
		case "link":
			r.Link = cell
		}
	}
	return r, at
}

// cell returns a diagnostic for the i-th cell of the row that was read last.
func (t *table) cell(i int, message string) yamlsrc.Diagnostic {
	line, column := t.FieldPos(i)
	return t.at(line, column, message)
}

// at returns a diagnostic for a byte of a line; both count from 1.
func (t *table) at(line, column int, message string) yamlsrc.Diagnostic {
	d := yamlsrc.Diagnostic{File: t.file, Line: line, Column: column, Message: message}
	if 0 < line && line <= len(t.lines) {
		text := t.lines[line-1]
		d.Column = utf8.RuneCount(text[:max(0, min(column-1, len(text)))]) + 1
	}
	return d
}

// explain turns an error of the CSV reader into a diagnostic.
func (t *table) explain(err error, record []string) yamlsrc.Diagnostic {
	wrong, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return yamlsrc.Diagnostic{File: t.file, Message: "cannot be read as CSV: " + err.Error()}
	case errors.Is(err, csv.ErrFieldCount):
		return t.at(wrong.StartLine, 1, fmt.Sprintf("the row has %d cells; the header has %d", len(record), len(t.columns)))
	}
	return t.at(wrong.Line, wrong.Column, "not valid CSV: "+wrong.Err.Error())
}
