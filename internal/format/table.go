package format

import "strings"

// Table is a table in Markdown, after an empty line; the first left columns are aligned
// to the left, the others to the right. Cells are written as they are: foreign text must
// be in code spans.
func Table(left int, header []string, rows [][]string) string {
	var b strings.Builder
	b.WriteString("\n| " + strings.Join(header, " | ") + " |\n|")
	for i := range header {
		if i < left {
			b.WriteString("---|")
		} else {
			b.WriteString("--:|")
		}
	}
	b.WriteString("\n")
	for _, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return b.String()
}
