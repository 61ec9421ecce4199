package child

import (
	"regexp"
	"slices"
	"strings"
)

// secretName finds the names of variables whose value is not to be shown, and
// keyName, which knows fewer, those that are not handed on: SSH_AUTH_SOCK and
// GIT_AUTHOR_NAME are no keys.
var (
	secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|auth`)
	keyName    = regexp.MustCompile(`(?i)key|token|secret|passw|credential`)
)

// minSecret keeps short values such as "1" or "true" from mangling messages.
const minSecret = 6

// HideSecrets replaces the values of the variables of an environment that are
// named like secrets by their names.
func HideSecrets(env []string) *strings.Replacer {
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if secretName.MatchString(name) && len(value) >= minSecret {
			pairs = append(pairs, value, "["+name+"]")
		}
	}
	return strings.NewReplacer(pairs...)
}

// WithoutSecrets is an environment without the variables that are named like keys,
// passwords or tokens, but for those that keep names.
func WithoutSecrets(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return keyName.MatchString(name) && !slices.Contains(keep, name)
	})
}
