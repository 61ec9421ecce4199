package cli

import (
	"fmt"
	"os"
	"strings"
)

// minToken is the minimum length of a token in bytes.
const minToken = 16

// Token returns the token in a file or in the environment; empty if none is set.
func Token(getenv func(string) string, file string) (string, error) {
	from, token := "REHEARSE_TOKEN", getenv("REHEARSE_TOKEN")
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("read the token: %w", err)
		}
		from = file
		token, _, _ = strings.Cut(string(data), "\n")
		if token = strings.TrimSpace(token); token == "" {
			return "", fmt.Errorf("read the token: the first line of %s is empty", file)
		}
	}
	if token != "" && len(token) < minToken {
		return "", fmt.Errorf("the token of %s has %d characters, expected at least %d; create one with openssl rand -hex 16",
			from, len(token), minToken)
	}
	return token, nil
}
