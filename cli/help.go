package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// helpWidth is the width of help texts, in columns.
const helpWidth = 80

// wrapHelp lets a command and its subcommands wrap their help texts when they print them. Examples
// stay as they are: they are to be copied.
func wrapHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = wrapText(cmd.Long)
		help(cmd, args)
	})
}

// listItem matches the start of an item of a list: an indent, and a term before a gap if there is
// one.
var listItem = lazyregexp.New(`^ +(?:\S+(?: \S+)* {2,})?`)

// wrapText wraps paragraphs, and the items of lists, which are indented and may have a term.
func wrapText(help string) string {
	var out []string
	indent, words := "", ""
	flush := func() {
		if indent+words != "" {
			hanging := strings.Repeat(" ", len([]rune(indent)))
			lines := strings.Split(text.WrapSoft(words, helpWidth-len(hanging)), "\n")
			for i, line := range lines {
				lines[i] = hanging + strings.TrimRight(line, " ")
			}
			out = append(out, indent+strings.TrimPrefix(strings.Join(lines, "\n"), hanging))
		}
		indent, words = "", ""
	}
	for line := range strings.SplitSeq(help, "\n") {
		start := listItem().FindString(line)
		continued := words != "" && (start == "" && indent == "" || start != "" && strings.TrimSpace(start) == "" && len(start) == len(indent))
		switch {
		case line == "":
			flush()
			out = append(out, "")
		case continued:
			words += " " + strings.TrimSpace(line)
		default:
			flush()
			indent, words = start, line[len(start):]
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// endings explains the exit codes of a command that runs an agent: those of the agent's
// statuses, and usage.
func endings[S interface {
	Row() (exitCode int, status, meaning string)
}](statuses []S, usage, note string,
) string {
	type ending struct {
		code int
		text string
	}
	rows := []ending{{exitUsage, "usage: " + usage}}
	for _, s := range statuses {
		code, status, meaning := s.Row()
		rows = append(rows, ending{code, status + ": " + meaning})
	}
	slices.SortStableFunc(rows, func(a, b ending) int { return cmp.Compare(a.code, b.code) })
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "  %-4d %s\n", row.code, row.text)
	}
	b.WriteString(note)
	return b.String()
}
