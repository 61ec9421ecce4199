package detect_test

import (
	"regexp"
	"strings"
	"unicode"
)

// line is a line of Markdown outside code.
type line struct {
	mark string // indentation, quotation, heading, bullet or number, check box
	body string // the rest, without the line's ending
	last bool   // the last line of a paragraph that is plain prose
	head bool   // the first line of one
}

var (
	marker = regexp.MustCompile(`^[ \t]*(?:>[ \t]*)*(?:#{1,6}[ \t]+)?(?:(?:[-*+•–]|\d{1,9}[.)]|[a-zA-Z][.)])[ \t]+)?(?:\[[ xX~/-]\][ \t]+|[☐☑☒✅✔✓❌⏳🔲][\x{FE0F}]?[ \t]*)*`)
	fence  = regexp.MustCompile("^ {0,3}(?:>[ \t]?)*(```+|~~~+)")
	// opaque matches the parts of a line that are not prose: code, tags and addresses, links'
	// targets, and a table's or a rule's line as a whole.
	opaque = regexp.MustCompile("``[^\n]*?``|`[^`\n]*`|<[^<>\n]*>|\\]\\([^()\n]*\\)|\\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s)>]*|^[ \\t]*\\|.*$|^[-=_* \\t|:]+$")
)

// lines returns a rewriting of each line outside code blocks that has words: "-"
// or "1." alone would become another thing by a space. Line ends stay.
func lines(rewrite func(line) string) func(string) string {
	return func(text string) string {
		var out strings.Builder
		all := strings.SplitAfter(text, "\n")
		open := ""
		for i, raw := range all {
			body := strings.TrimRight(raw, "\r\n")
			end := raw[len(body):]
			code := open != ""
			if m := fence.FindStringSubmatch(body); m != nil {
				open, code = fenced(open, m[1], body), true
			}
			if code || isIndented(body) || !strings.ContainsFunc(body, unicode.IsLetter) {
				out.WriteString(raw)
				continue
			}
			mark := marker.FindString(body)
			out.WriteString(rewrite(line{
				mark: mark, body: body[len(mark):],
				head: mark == "" && (i == 0 || isBlank(all[i-1])),
				last: mark == "" && (i+1 == len(all) || isBlank(all[i+1])),
			}) + end)
		}
		return out.String()
	}
}

// fenced returns what closes the code block after a line with a fence; empty if
// none is open.
func fenced(open, found, body string) string {
	switch {
	case open == "":
		return found
	case strings.HasPrefix(found, open) && strings.Trim(body, "`~ \t>") == "":
		return ""
	}
	return open
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// isIndented reports whether the line may be an indented code block. A nested
// list's line looks alike but has a marker.
func isIndented(body string) bool {
	return (strings.HasPrefix(body, "    ") || strings.HasPrefix(body, "\t")) &&
		strings.TrimSpace(marker.FindString(body)) == ""
}

// prose returns a rewriting of the prose in each line, piece by piece between
// what is opaque.
func prose(rewrite func(string) string) func(string) string {
	return lines(func(l line) string {
		return l.mark + pieces(l.body, rewrite)
	})
}

func pieces(body string, rewrite func(string) string) string {
	var out strings.Builder
	at := 0
	for _, span := range opaque.FindAllStringIndex(body, -1) {
		out.WriteString(rewrite(body[at:span[0]]))
		out.WriteString(body[span[0]:span[1]])
		at = span[1]
	}
	out.WriteString(rewrite(body[at:]))
	return out.String()
}

// paragraphs puts something before and behind each paragraph of prose.
func paragraphs(before, behind string) func(string) string {
	return lines(func(l line) string {
		body := l.body
		if opaque.MatchString(body) && pieces(body, func(string) string { return "" }) == body {
			return l.mark + body // a table, a rule or code only
		}
		if l.head {
			body = before + body
		}
		if l.last {
			body = strings.TrimRight(body, " \t") + behind
		}
		return l.mark + body
	})
}
