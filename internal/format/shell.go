package format

import "strings"

// ShellLine returns the words as a command line that a person can paste into a POSIX
// shell, each quoted if the shell would read it otherwise.
func ShellLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellQuote(word)
	}
	return strings.Join(quoted, " ")
}

// shellQuote returns a word as the shell reads it back: as it is where every character is
// plain, otherwise in single quotes, in which only the single quote is special.
func shellQuote(word string) string {
	if word != "" && strings.Trim(word, shellPlain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shellPlain has the characters that are not special to any POSIX shell, wherever they are
// in a word that is not an assignment and not a home folder.
const shellPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + "_-./:,+@%"
