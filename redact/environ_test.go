package redact_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/redact"
)

var _ = Describe("secrets", func() {
	env := []string{"PATH=/bin", "API_KEY=abcdefgh", "DB_PASSWORD=hunter22", "GIT_AUTHOR_NAME=Somebody", "A_TOKEN=1"}

	It("are hidden by their names", func() {
		Expect(redact.HideSecrets(env).Replace("/bin abcdefgh hunter22 Somebody 1")).To(Equal("/bin [API_KEY] [DB_PASSWORD] Somebody 1"))
	})

	It("are not handed on but by name", func() {
		Expect(redact.WithoutSecrets(env, []string{"API_KEY"})).To(Equal([]string{"PATH=/bin", "API_KEY=abcdefgh", "GIT_AUTHOR_NAME=Somebody"}))
		Expect(env).To(HaveLen(5), "the caller's is as it was")
	})
})

var _ = DescribeTable("a name says that a value is secret",
	func(name string) { Expect(redact.SecretValues(name, "0123456789")).To(Equal([]string{"0123456789"})) },
	Entry(nil, "OPENAI_API_KEY"), Entry(nil, "my_token"), Entry(nil, "CLIENT_SECRET"), Entry(nil, "DB_PASSWORD"), Entry(nil, "APIKEY"),
	Entry(nil, "PGPASS"), Entry(nil, "MYSQL_PWD"), Entry(nil, "NPM_CONFIG__AUTH"), Entry(nil, "AWS_CREDENTIALS"), Entry(nil, "PASSPHRASE"),
	Entry(nil, "PASSWD"), Entry(nil, "SENTRY_DSN"), Entry(nil, "DSN"), Entry(nil, "COOKIE"), Entry(nil, "SENTRY_AUTH"), Entry(nil, "DATABASE_URL"),
	Entry(nil, "DB_PASS"), Entry(nil, "REDIS_AUTH"), Entry(nil, "GIT_CREDS"), Entry(nil, "HTTP_AUTHORIZATION"), Entry(nil, "SESSION_COOKIE"),
	Entry(nil, "PGPASSWORD"), Entry(nil, "SERVICE_JWT"), Entry(nil, "VAULT_TOKEN"), Entry(nil, "npm_config_//registry/:_authToken"),
)

var _ = DescribeTable("a name does not say that a value is secret",
	func(name string) { Expect(redact.SecretValues(name, "0123456789")).To(BeEmpty()) },
	Entry(nil, "PWD"), Entry(nil, "OLDPWD"), Entry(nil, "GIT_AUTHOR_NAME"), Entry(nil, "AUTHOR"), Entry(nil, "XAUTHORITY"), Entry(nil, "SSH_AUTH_SOCK"),
	Entry(nil, "PATH"), Entry(nil, "HOME"), Entry(nil, "XKB_KEYMAP"), Entry(nil, "KEYBOARD_LAYOUT"), Entry(nil, "COMPASS"), Entry(nil, "LOGIN_BYPASS"),
	Entry(nil, "PASSENGER_ROOT"), Entry(nil, "CREDIT_LIMIT"), Entry(nil, "TOKENIZERS_PARALLELISM"), Entry(nil, "SSL_KEY_FILE"), Entry(nil, "SSH_KEY_PATH"),
	Entry(nil, "GOOGLE_APPLICATION_CREDENTIALS"), Entry(nil, "AUTHENTICATION_MODE"), Entry(nil, "COMPASSION"), Entry(nil, "PATIENCE"),
)

var _ = DescribeTable("a URL holds a secret",
	func(name, value string, want ...string) { Expect(redact.SecretValues(name, value)).To(ConsistOf(want)) },
	Entry("as its password, whatever its name is", "UPSTREAM", "https://me:p%40ss@host/", "p@ss"),
	Entry("as a whole if it is the address of a database", "DATABASE_URL", "postgres://me:word@host/db", "word", "postgres://me:word@host/db"),
	Entry("as a whole if its user is one", "SENTRY_DSN", "https://0123456789@sentry.example/1", "https://0123456789@sentry.example/1"),
	Entry("not without a user", "DATABASE_URL", "sqlite:///data.db"),
	Entry("not where it is broken", "UPSTREAM", "https://me:word@host:x y/"),
)
