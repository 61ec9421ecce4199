package textfold

import "strings"

// quotes maps opening to closing quotation marks.
var quotes = map[rune]string{'«': "»", '“': "”", '"': `"`, '„': "”"}

// Questions counts the questions of a text by their marks: "?!" and "??" are one, and a
// quoted question does not count.
func Questions(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n += lineQuestions(line)
	}
	return n
}

func lineQuestions(line string) int {
	n := 0
	skip, after := 0, false
	var unclosed string // the closing marks that the rest of the line lacks
	for i, c := range line {
		if i < skip {
			continue
		}
		mark := c == '?' || c == '？'
		if mark && !after {
			n++
		}
		after = mark || after && (c == '!' || c == ' ' || c == '\u00a0' || c == '\u202f')
		end, quoted := quotes[c]
		if !quoted || strings.Contains(unclosed, end) {
			continue
		}
		rest := line[i+len(string(c)):]
		if at := strings.Index(rest, end); at >= 0 {
			skip = i + len(string(c)) + at + len(end)
		} else {
			unclosed += end
		}
	}
	return n
}
