package yamlsrc

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Diagnostic is an error in a file, with its position.
type Diagnostic struct {
	// File is the name of the file as given by the user.
	File string `json:"file"`
	// Line and Column count from 1; Column counts characters, not bytes. Both are
	// 0 for an error of the whole file.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Path is the path in the document, such as "rules[2].when.user"; empty for
	// a syntax error.
	Path string `json:"path,omitempty"`
	// Message describes what was found.
	Message string `json:"message"`
	// Expected describes a valid value; it may be empty.
	Expected string `json:"expected,omitempty"`
	// Nearest is the most similar valid word; it may be empty.
	Nearest string `json:"nearest,omitempty"`

	excerpt string // the line of the file, for Detail
}

// Error returns the diagnostic in one line, in the format of compilers:
//
//	file:line:column: message (did you mean "x"?)
func (d Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
	}
	b.WriteString(": " + d.Message)
	switch {
	case d.Nearest != "":
		fmt.Fprintf(&b, " (did you mean %q?)", d.Nearest)
	case d.Expected != "":
		b.WriteString("; expected " + d.Expected)
	}
	return b.String()
}

// Detail returns Error, and the line of the file with a caret under the position.
// It replaces control characters of the file.
func (d Diagnostic) Detail() string {
	if d.Line == 0 || d.excerpt == "" {
		return d.Error()
	}
	text, caret := window(printable(d.excerpt), d.Column-1)
	number := fmt.Sprint(d.Line)
	return fmt.Sprintf("%s\n  %s | %s\n  %s | %s^", d.Error(),
		number, text, strings.Repeat(" ", len(number)), strings.Repeat(" ", caret))
}

// printable replaces characters that a terminal might interpret by characters of one cell.
func printable(line string) []rune {
	return []rune(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, line))
}

// window cuts a long line around the column (from 0) and returns the column's new
// index.
func window(line []rune, column int) (string, int) {
	const width, before = 100, 60
	column = min(max(column, 0), len(line))
	from := 0
	if len(line) > width {
		from = min(max(0, column-before), len(line)-width)
	}
	to := min(len(line), from+width)
	text, caret := string(line[from:to]), column-from
	if from > 0 {
		text, caret = "…"+text, caret+1
	}
	if to < len(line) {
		text += "…"
	}
	return text, caret
}

// Diagnostics are the errors in one or several files.
type Diagnostics []Diagnostic

// Error returns the diagnostics, one per line.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}

// Render returns the Detail of each diagnostic, each ending with a line feed.
func (ds Diagnostics) Render() string {
	var b strings.Builder
	for _, d := range ds {
		b.WriteString(d.Detail() + "\n")
	}
	return b.String()
}

// In adds the lines of data to the diagnostics, for Detail. Use it for diagnostics of
// text that is not YAML, with lines that end in LF or CR LF. It does not change diagnostics
// of a Document.
func (ds Diagnostics) In(data []byte) Diagnostics {
	ds = slices.Clone(ds)
	lines := bytes.Split(data, []byte("\n"))
	for i := range ds {
		if d := &ds[i]; d.excerpt == "" && 0 < d.Line && d.Line <= len(lines) {
			d.excerpt = string(bytes.TrimSuffix(lines[d.Line-1], []byte("\r")))
		}
	}
	return ds
}

// Err returns ds as an error, or nil if ds is empty.
func (ds Diagnostics) Err() error {
	if len(ds) == 0 {
		return nil
	}
	return ds
}

// About reports whether one of the diagnostics is about the value at path, a value inside
// it, or a value around it. Further errors of that value are probably consequences.
func (ds Diagnostics) About(path string) bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool {
		return d.Path == path || within(d.Path, path) || within(path, d.Path)
	})
}

func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (outer == "" || strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "["))
}

// Sort sorts the diagnostics of each file by their position. Files keep the order in
// which they first appear.
func (ds Diagnostics) Sort() {
	order := make(map[string]int)
	for _, d := range ds {
		if _, known := order[d.File]; !known {
			order[d.File] = len(order)
		}
	}
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(order[a.File], order[b.File]),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
		)
	})
}
