package redact_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/redact"
)

var _ = Describe("The environment", func() {
	env := []string{"PATH=/bin", "API_KEY=abcdefgh", "DB_PASSWORD=hunter22", "GIT_AUTHOR_NAME=Somebody", "A_TOKEN=1"}

	It("has its secrets replaced by the names of the variables", func() {
		Expect(redact.HideSecrets(env).Replace("/bin abcdefgh hunter22 Somebody 1")).To(Equal("/bin [API_KEY] [DB_PASSWORD] Somebody 1"))
	})

	It("loses its secrets except for the variables to keep", func() {
		Expect(redact.WithoutSecrets(env, []string{"API_KEY"})).To(Equal([]string{"PATH=/bin", "API_KEY=abcdefgh", "GIT_AUTHOR_NAME=Somebody"}))
		Expect(env).To(HaveLen(5), "the argument is not changed")
	})
})

// byName returns the names of variables whose values are secrets.
func byName(names string) (secret []string) {
	for name := range strings.FieldsSeq(names) {
		if len(redact.SecretsIn([]string{name + "=0123456789"})) > 0 {
			secret = append(secret, name)
		}
	}
	return secret
}

var _ = It("recognises secrets by the names of variables", func() {
	const names = `OPENAI_API_KEY my_token CLIENT_SECRET DB_PASSWORD APIKEY PGPASS MYSQL_PWD NPM_CONFIG__AUTH AWS_CREDENTIALS PASSPHRASE
		PASSWD SENTRY_DSN DSN COOKIE SENTRY_AUTH DATABASE_URL DB_PASS REDIS_AUTH GIT_CREDS HTTP_AUTHORIZATION SESSION_COOKIE
		PGPASSWORD SERVICE_JWT VAULT_TOKEN npm_config_//registry/:_authToken`
	Expect(byName(names)).To(Equal(strings.Fields(names)))
})

var _ = It("does not take ordinary variables for secrets", func() {
	Expect(byName(`PWD OLDPWD GIT_AUTHOR_NAME AUTHOR XAUTHORITY SSH_AUTH_SOCK PATH HOME XKB_KEYMAP KEYBOARD_LAYOUT COMPASS LOGIN_BYPASS
		PASSENGER_ROOT CREDIT_LIMIT TOKENIZERS_PARALLELISM SSL_KEY_FILE SSH_KEY_PATH GOOGLE_APPLICATION_CREDENTIALS
		AUTHENTICATION_MODE COMPASSION PATIENCE`)).To(BeEmpty())
})

var _ = DescribeTable("finds secrets in URLs",
	func(pair string, want ...string) { Expect(redact.SecretsIn([]string{pair})).To(ConsistOf(want)) },
	Entry("the password, whatever the name of the variable", "UPSTREAM=https://me:p%40ssword@host/", "p@ssword"),
	Entry("the whole address of a database with a user", "DATABASE_URL=postgres://me:password@host/db", "password", "postgres://me:password@host/db"),
	Entry("the whole address if the user is the secret", "SENTRY_DSN=https://0123456789@sentry.example/1", "https://0123456789@sentry.example/1"),
	Entry("nothing without a user", "DATABASE_URL=sqlite:///data.db"),
	Entry("nothing in a URL that is not valid", "UPSTREAM=https://me:password@host:x y/"),
)
