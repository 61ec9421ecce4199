package cli

import (
	"regexp"
	"strings"
)

var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)

// minSecret keeps short values such as "1" or "true" from mangling messages.
const minSecret = 6

// hideSecrets replaces the values of environment variables that are named like
// secrets by their names.
func hideSecrets(env []string) *strings.Replacer {
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if secretName.MatchString(name) && len(value) >= minSecret {
			pairs = append(pairs, value, "["+name+"]")
		}
	}
	return strings.NewReplacer(pairs...)
}
