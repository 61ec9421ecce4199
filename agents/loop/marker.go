package loop

import "strings"

// markers are the lines that signal the state of the work in plain text.
type markers struct {
	// done is the whole line that means done, without the space around it.
	done string
	// blocked begins a line that asks for a person.
	blocked string
}

// read searches the lines outside of fenced code blocks for the markers. Only space around a line is
// ignored: "**DONE**", "DONE." and "not DONE" are not markers. If an answer has both, blocked wins.
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

// prose returns the text without the done markers.
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

// fence is the open code fence, or zero.
type fence struct {
	char   byte
	length int
}

// step reports whether the next line belongs to a code block or is a fence.
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

// fenceOf splits a line into its leading backticks or tildes and the rest. A line that is indented by
// four or more spaces is not a fence.
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
