package cli

import (
	"fmt"
	"os"
	"strings"
)

// minToken is the least length of a token, in bytes.
const minToken = 16

// Token returns the token in a file or in the environment, which may be empty.
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
			return "", fmt.Errorf("%s has no token in its first line", file)
		}
	}
	if token != "" && len(token) < minToken {
		return "", fmt.Errorf("the token of %s has %d characters; at least %d are needed, such as those of openssl rand -hex 16",
			from, len(token), minToken)
	}
	return token, nil
}
