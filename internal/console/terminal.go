package console

import (
	"io"
	"os"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// Terminal has the properties of an output. The zero value draws plainly, 80 columns wide.
type Terminal struct {
	// Width is in columns; 0 means 80.
	Width int
	// Color reports whether to use colours.
	Color bool
	// Live reports whether a line can be redrawn in place.
	Live bool
}

// TerminalOf returns the properties of w. A pipe or a file is plain. NO_COLOR, if it is set, disables
// colours, and otherwise CLICOLOR_FORCE enables them everywhere, unless it is "0"; a TERM of "dumb" also
// disables redrawing. Env is usually os.Getenv.
func TerminalOf(w io.Writer, env func(string) string) Terminal {
	force := env("CLICOLOR_FORCE")
	forced := env("NO_COLOR") == "" && force != "" && force != "0"
	if !IsTerminal(w) {
		return Terminal{Color: forced}
	}
	f, _ := w.(*os.File)
	dumb := env("TERM") == "dumb"
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return Terminal{Width: width, Live: !dumb, Color: forced || !dumb && env("NO_COLOR") == ""}
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width to draw in, at least 40.
func (t Terminal) Columns() int {
	if t.Width == 0 {
		return 80
	}
	return max(t.Width, 40)
}

// Shorten is Middle on a terminal. It does not shorten names in a file or a pipe, where they may be
// searched for and copied.
func (t Terminal) Shorten(s string, limit int) string {
	if t.Width == 0 {
		return s
	}
	return Middle(s, limit)
}

// Color is an SGR code.
type Color string

// The colours.
const (
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Faint  Color = "2"
	Bold   Color = "1"
)

// Paint colours s if the terminal has colours. The table library's own colours depend on a global
// switch and on the environment.
func (t Terminal) Paint(c Color, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// Table returns an empty table with gap spaces between columns and a line under the header, in plain
// characters. The columns with the numbers in right, from 1, are aligned to the right.
func Table(gap int, right ...int) table.Writer {
	w := table.NewWriter()
	style := table.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Format.HeaderAlign = text.AlignDefault
	style.Options = table.Options{SeparateHeader: true, SeparateColumns: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", ""
	style.Box.MiddleVertical, style.Box.MiddleSeparator = strings.Repeat(" ", gap), strings.Repeat("-", gap)
	style.Box.MiddleHorizontal = "-"
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	var columns []table.ColumnConfig
	for _, n := range right {
		columns = append(columns, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	w.SetColumnConfigs(columns)
	return w
}

// Row returns cells as a row of a Table.
func Row(cells []string) table.Row {
	out := make(table.Row, len(cells))
	for i, cell := range cells {
		out[i] = cell
	}
	return out
}

// Width returns the number of columns of s, without colours.
func Width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// Middle shortens s, which has no colours, to at most width columns by removing its middle: names
// differ in the group at their beginning and in the case at their end.
func Middle(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 3 {
		return take([]rune(s), width)
	}
	runes := []rune(s)
	head := take(runes, (width-1)/2)
	tail := takeLast(runes, width-1-Width(head))
	return head + "…" + tail
}

// take returns the longest start of runes that fits in width columns.
func take(runes []rune, width int) string {
	for i, r := range runes {
		if width -= text.RuneWidth(r); width < 0 {
			return string(runes[:i])
		}
	}
	return string(runes)
}

// takeLast returns the longest end of runes that fits in width columns.
func takeLast(runes []rune, width int) string {
	for i := len(runes) - 1; i >= 0; i-- {
		if width -= text.RuneWidth(runes[i]); width < 0 {
			return string(runes[i+1:])
		}
	}
	return string(runes)
}
