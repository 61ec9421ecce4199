package store_test

import (
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = DescribeTable("an invalid address is rejected without its password",
	func(ctx SpecContext, dsn, reason string) {
		_, err := store.Open(ctx, dsn)
		Expect(err).To(MatchError(And(ContainSubstring(reason), ContainSubstring("postgres://"))))
		Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
	},
	Entry("empty", "", "the name of the store is empty"),
	Entry("only a scheme", "sqlite:", "the name of the store is empty"),
	Entry("another database", "mysql://root:s3cret@host/db", `unsupported store address "mysql://"`),
	Entry("connection parameters", "host=localhost password=s3cret dbname=x", "written as an address"),
	Entry("a malformed address", "postgres://user:s3cret@host:port/db", "invalid address"),
	Entry("an unescaped password", "postgres://user:s3cret%@host/db", "invalid address"),
)

var _ = DescribeTable("the name of a store for logs",
	func(dsn, name string) { Expect(store.Name(dsn)).To(Equal(name)) },
	Entry("a path", "a/b.db", "a/b.db"),
	Entry("a path with a scheme", "sqlite:a.db", "sqlite:a.db"),
	Entry("memory", "memory:", "memory:"),
	Entry("a path with special characters", "50%#?.db", "50%#?.db"),
	Entry("a password", "postgres://u:s3cret@host:5432/db?password=s3cret&sslmode=disable", "postgres://u:xxxxx@host:5432/db"),
	Entry("a malformed password", "postgres://u:s3cret%@host/db", "postgres://…"),
	Entry("a password in the query", "postgresql:///db?password=s3cret", "postgresql:///db"),
)

func FuzzName(f *testing.F) {
	for _, dsn := range []string{
		"postgres://u:s3cret@host/db?password=s3cret#s3cret", "postgres://u:a%20b:c@[::1]:5432/x", "a.db", "://", "postgres://u:@h",
	} {
		f.Add(dsn)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		name := store.Name(dsn)
		u, err := url.Parse(dsn)
		if err != nil || !strings.Contains(dsn, "://") {
			return
		}
		secret, _ := u.User.Password()
		rest := *u
		rest.User, rest.RawQuery = url.UserPassword(u.User.Username(), "xxxxx"), ""
		if secret != "" && strings.Contains(name, secret) && !strings.Contains(rest.String(), secret) {
			t.Fatalf("the name %q of %q tells the password %q", name, dsn, secret)
		}
	})
}
