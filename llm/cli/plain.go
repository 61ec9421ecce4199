package cli

import "strings"

// plainLine takes a line of an agent that writes its answer and nothing else.
func plainLine(a *answer, line []byte) {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if a.events > 0 {
		text = "\n" + text
	}
	a.events++
	a.addText(text)
}
