package loop

import (
	"slices"
	"strings"
)

// markers are the lines that signal the state of the work in plain text.
type markers struct {
	// done is the whole line that means done, without the space around it.
	done string
	// blocked begins a line that asks for a person.
	blocked string
}

// read searches the lines outside of fenced code blocks for the markers. Only space around a line is
// ignored, except that the last line may emphasise the done marker or end it as a sentence: "**DONE**" and
// "DONE." count there, and are noted elsewhere. If an answer has both markers, blocked wins.
//
// Fences are those of CommonMark: at least three backticks or tildes, closed by
// at least as many of the same, and running to the end if never closed.
func (m markers) read(text string) claim {
	var found claim
	var open fence
	last, coded := "", false
	for line := range strings.Lines(text) {
		code := open.step(line)
		line = strings.TrimSpace(line)
		if line != "" {
			last, coded = line, code
		}
		if code {
			continue
		}
		if rest, ok := strings.CutPrefix(line, m.blocked); ok {
			return claim{state: blocked, summary: strings.TrimSpace(rest)}
		}
		switch {
		case line == m.done:
			found = claim{state: finished}
		case found.state != finished && undecorated(line) == m.done:
			found.note = notef("the line %q is not the marker %s; it needs a line of its own without other characters",
				"la ligne %q n'est pas le marqueur %s, qui doit être seul sur sa ligne, sans autre caractère", line, m.done)
		}
	}
	if !coded && undecorated(last) == m.done {
		return claim{state: finished}
	}
	return found
}

// undecorated returns a line without emphasis, code marks, and the end of a sentence.
func undecorated(line string) string {
	const marks = "*_`"
	return strings.TrimLeft(strings.TrimRight(line, marks+".!"), marks)
}

// prose returns the text without the done markers.
func (m markers) prose(text string) string {
	var kept []string
	var open fence
	decorated := -1 // the position of the last line in kept, if it is a decorated marker
	for line := range strings.Lines(text) {
		code, bare := open.step(line), strings.TrimSpace(line)
		if bare != "" {
			decorated = -1
		}
		if !code && bare == m.done {
			continue
		}
		if !code && bare != "" && undecorated(bare) == m.done {
			decorated = len(kept)
		}
		kept = append(kept, line)
	}
	if decorated >= 0 {
		kept = slices.Delete(kept, decorated, decorated+1)
	}
	return strings.Join(kept, "")
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
