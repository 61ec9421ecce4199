package cli

import "strings"

// plainLine processes a line of an agent that writes only its answer.
func plainLine(a *answer, line []byte) {
	text := strings.ToValidUTF8(string(line), "\uFFFD")
	if a.events > 0 {
		text = "\n" + text
	}
	a.events++
	a.addText(text)
}
