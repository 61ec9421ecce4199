package agent

import "strings"

// readPlain takes any arguments; without a prompt on standard input they are it.
func readPlain(h hello) (invocation, error) {
	if strings.TrimSpace(h.Stdin) == "" {
		return invoke(h, strings.Join(h.Args, " "), "", "")
	}
	return invoke(h, "", "", "")
}

// plainAnswer renders the text alone. A failure with exit status 0 is a text too:
// such a program has no other way to report it.
func plainAnswer(a *act) {
	text := a.Text
	if a.failure != "" {
		text = ""
	}
	for l := range strings.Lines(text) {
		if !strings.HasSuffix(l, "\n") {
			l += "\n"
		}
		a.lines = append(a.lines, line{data: []byte(l), content: true})
	}
	if a.failure != "" {
		a.lines = append(a.lines, line{data: []byte("Error: " + withStatus(a) + "\n"), stderr: a.exit != 0})
	}
}
