package redact

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// names are the expressions for names of variables, ignoring case. A word is a part of a
// name between underscores, hyphens or dots.
type names struct {
	// part is secret anywhere in a name, word as a word or, where that is usual (PGPASS,
	// DBPWD), as the end of one.
	part, word *regexp.Regexp
	// ordinary names contain one of these by chance, or name the place of a secret.
	ordinary *regexp.Regexp
	// connection is the name of an address that is secret as a whole if it names a user.
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

// isSecretName reports whether the value of a variable of this name is secret, such as that
// of OPENAI_API_KEY, MYSQL_PWD or NPM_CONFIG__AUTH. PWD, SSH_AUTH_SOCK and GIT_AUTHOR_NAME
// are ordinary.
func isSecretName(name string) bool {
	v := variables()
	return (v.part.MatchString(name) || v.word.MatchString(name)) && !v.ordinary.MatchString(name)
}

// secretValues returns the secret parts of a variable: its value if the name is secret, and
// the password if the value is a URL with one.
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

// minHidden keeps short values such as "1" or "true" from mangling messages.
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

// WithoutSecrets is an environment without the variables that are secret by their names,
// but for those that keep names. Addresses of databases stay.
func WithoutSecrets(env, keep []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return isSecretName(name) && !slices.Contains(keep, name)
	})
}
