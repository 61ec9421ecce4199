package loop

import "strings"

// markers are the lines by which an agent signals in plain text.
type markers struct {
	// done is the whole line, without the space around it, that means done.
	done string
	// blocked begins a line that asks for a person; empty switches it off.
	blocked string
}

// read looks for the markers on lines outside fenced code blocks. Space around a
// line does not count; anything else does, so that "**DONE**", "DONE." and
// "not DONE" are not markers. If an answer has both markers, blocked wins.
//
// Fences are those of CommonMark: at least three backticks or tildes, closed by
// at least as many of the same, and running to the end if never closed.
func (m markers) read(text string) claim {
	var found claim
	var open fence
	for line := range strings.Lines(text) {
		if open.step(line) {
			continue
		}
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, m.blocked); ok {
			return claim{state: blocked, summary: strings.TrimSpace(rest)}
		}
		if line == m.done {
			found.state = finished
		}
	}
	return found
}

// prose returns the text without the lines that read takes for the done marker: the text
// for a person.
func (m markers) prose(text string) string {
	var b strings.Builder
	var open fence
	for line := range strings.Lines(text) {
		if open.step(line) || strings.TrimSpace(line) != m.done {
			b.WriteString(line)
		}
	}
	return b.String()
}

// fence is the code fence that is open; the zero value is for no fence.
type fence struct {
	char   byte
	length int
}

// step takes the next line and reports whether it belongs to a code block,
// fences included.
func (f *fence) step(line string) bool {
	char, length, info := fenceOf(line)
	switch {
	case f.length > 0:
		if char == f.char && length >= f.length && info == "" {
			*f = fence{}
		}
		return true
	case length >= 3 && (char == '~' || !strings.Contains(info, "`")):
		*f = fence{char: char, length: length}
		return true
	}
	return false
}

// fenceOf splits a line into its leading backticks or tildes and what follows.
// A line that is indented by four or more is not a fence.
func fenceOf(line string) (char byte, length int, info string) {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || trimmed == "" {
		return 0, 0, ""
	}
	char = trimmed[0]
	if char != '`' && char != '~' {
		return 0, 0, ""
	}
	rest := strings.TrimLeft(trimmed, string(char))
	return char, len(trimmed) - len(rest), strings.TrimSpace(rest)
}
