package agent

import "strings"

// readPlain accepts any arguments. They are the prompt if standard input has none.
func readPlain(h hello) (invocation, error) {
	if strings.TrimSpace(h.Stdin) == "" {
		return invoke(h, strings.Join(h.Args, " "), "", "")
	}
	return invoke(h, "", "", "")
}

// plainAnswer renders the text. A failure with exit status 0 is written to standard output, because a
// plain program cannot report it otherwise.
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
