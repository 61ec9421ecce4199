package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// names has the expressions for names of variables, ignoring case. A word is a part of a name between
// underscores, hyphens or dots.
type names struct {
	// part is secret anywhere in a name, word only as a word or, in usual names such as PGPASS and
	// DBPWD, at the end of one.
	part, word *regexp.Regexp
	// ordinary names contain a secret word by chance, or name the location of a secret.
	ordinary *regexp.Regexp
	// connection is an address that is secret as a whole if it contains a user.
	connection *regexp.Regexp
}

var variables = sync.OnceValue(func() names {
	return names{
		part: regexp.MustCompile(`(?i)key|token|secret|passw|passphrase|credential|cookie|authorization`),
		word: regexp.MustCompile(`(?i)(^|[_.-])(creds?|jwt|pass)([_.-]|$)|(^|[_.-])o?auth$|(pass|pwd)$`),
		ordinary: regexp.MustCompile(`(?i)^(old)?pwd$|keyboard|keymap|keyring|tokenizer|(com|by)pass$` +
			`|_(file|path|dir|sock)$|^google_application_credentials$`),
		connection: regexp.MustCompile(`(?i)(^|[_.-])(dsn` +
			`|(database|db|redis|mongo|mongodb|postgres|postgresql|mysql|amqp|broker)_?(url|uri)|connection_?string)$`),
	}
})

// isSecretName reports whether the value of the variable is secret, such as OPENAI_API_KEY, MYSQL_PWD or
// NPM_CONFIG__AUTH, but not PWD, SSH_AUTH_SOCK or GIT_AUTHOR_NAME.
func isSecretName(name string) bool {
	v := variables()
	return (v.part.MatchString(name) || v.word.MatchString(name)) && !v.ordinary.MatchString(name)
}

// secretValues returns the secrets of a variable: the value of a secret name, and the password of a URL.
func secretValues(name, value string) (secrets []string) {
	user := userOf(value)
	if isSecretName(name) || variables().connection.MatchString(name) && (user != nil || !strings.Contains(value, "://")) {
		secrets = append(secrets, value)
	}
	if password, ok := user.Password(); ok && password != "" {
		secrets = append(secrets, password)
	}
	return secrets
}

// userOf returns the user and password of a URL; nil for any other value.
func userOf(value string) *url.Userinfo {
	if !strings.Contains(value, "://") {
		return nil
	}
	address, err := url.Parse(strings.TrimSpace(value))
	if err != nil {
		return nil
	}
	return address.User
}

// minHidden is the minimum length of a hidden value, because short values such as "true" would mangle
// messages.
const minHidden = 6

// HideSecrets replaces the secrets of an environment by the names of their variables.
func HideSecrets(env []string) *strings.Replacer {
	var pairs []string
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		for _, secret := range secretValues(name, value) {
			if len(secret) >= minHidden {
				pairs = append(pairs, secret, "["+name+"]")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// WithoutSecrets returns an environment without the variables that have secret names, except for the names
// in keep. It keeps addresses of databases.
func WithoutSecrets(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return isSecretName(name) && !slices.Contains(keep, name)
	})
}
