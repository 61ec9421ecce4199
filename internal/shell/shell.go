// Package shell writes commands that a person can paste into a POSIX shell.
package shell

import (
	"strings"
)

// Join is a command line of these words, each quoted if the shell would read it
// otherwise.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}

// Quote is a word as the shell reads it back: itself where every character is plain,
// else in single quotes, in which only the single quote means something.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain are the characters that mean nothing to any POSIX shell, wherever they stand
// in a word that is no assignment and no home folder.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + "_-./:,+@%"
