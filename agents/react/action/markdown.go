package action

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// delimiter is the line between the header of a table and its rows.
var delimiter = lazyregexp.New(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

// decodeMarkdown decodes the first table of a text, in GitHub's syntax. Inline Markdown in
// cells is not changed; "\|" is a bar.
func decodeMarkdown(data []byte) (document, error) {
	lines := split(data)
	for i := 1; i < len(lines); i++ {
		if !delimiter().MatchString(lines[i]) || !strings.Contains(lines[i]+lines[i-1], "|") {
			continue
		}
		header := cells(lines[i-1])
		if len(header) != len(cells(lines[i])) {
			continue
		}
		rows := [][]string{header}
		for n, line := range lines[i+1:] {
			if strings.TrimSpace(line) == "" {
				break
			}
			row := cells(line)
			if len(row) != len(header) {
				return document{}, fmt.Errorf("line %d has %s; the header has %d", i+n+2, format.Plural(len(row), "cell"), len(header))
			}
			rows = append(rows, row)
		}
		return newTable(rows)
	}
	return document{}, errors.New("there is no table")
}

// cells splits a line of a table at its bars.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var all []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			all = append(all, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(all, strings.TrimSpace(cell.String()))
}

// encodeMarkdown writes a table. A line break in a cell is an error.
func encodeMarkdown(d document) ([]byte, error) {
	t, err := d.asTable()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	rule := make([]string, len(t.header))
	for i := range rule {
		rule[i] = "---"
	}
	for i, row := range append([][]string{t.header, rule}, t.rows...) {
		b.WriteString("|")
		for _, cell := range row {
			if strings.ContainsAny(cell, "\r\n") {
				return nil, fmt.Errorf("a cell of row %d has several lines", i)
			}
			b.WriteString(" " + strings.ReplaceAll(cell, "|", `\|`) + " |")
		}
		b.WriteString("\n")
	}
	return b.Bytes(), nil
}
