package openai_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

var _ = Describe("configuration", func() {
	It("comes from the environment", func() {
		cfg := openai.FromEnv(env("OPENAI_API_KEY", " k\n", "OPENAI_BASE_URL", "http://localhost:1/v1", "REHEARSE_OFFLINE", "1"))
		Expect(cfg.APIKey).To(Equal("k"))
		Expect(cfg.BaseURL).To(Equal("http://localhost:1/v1"))
		Expect(cfg.Offline).To(BeTrue())
		Expect(cfg.Retry.Rand()).To(And(BeNumerically(">=", 0), BeNumerically("<", 1)))
	})

	DescribeTable("REHEARSE_OFFLINE",
		func(value string, want bool) {
			Expect(openai.FromEnv(env("REHEARSE_OFFLINE", value)).Offline).To(Equal(want))
		},
		Entry("unset", "", false), Entry("0", "0", false), Entry("false", "False", false),
		Entry("1", "1", true), Entry("anything else is taken as yes", "yes", true),
	)

	DescribeTable("offline, only this machine may be called", Label("H-02"),
		func(base string, allowed bool) {
			_, err := openai.New(openai.Config{BaseURL: base, Offline: true, APIKey: key})
			if allowed {
				Expect(err).NotTo(HaveOccurred())
				return
			}
			Expect(err).To(MatchError(ContainSubstring("REHEARSE_OFFLINE")))
		},
		Entry("the default, OpenAI", "", false),
		Entry("IPv4", "http://127.0.0.1:8080/v1", true),
		Entry("another address of the loopback net", "http://127.8.9.1/v1", true),
		Entry("IPv6", "http://[::1]:8080/v1", true),
		Entry("IPv4 in IPv6", "http://[::ffff:127.0.0.1]/v1", true),
		Entry("the name", "http://LOCALHOST/v1", true),
		Entry("a name below it, which DNS may send anywhere", "http://x.localhost/v1", false),
		Entry("a name that begins like it", "http://localhost.example.com/v1", false),
		Entry("an address that begins like it", "http://127.0.0.1.example.com/v1", false),
		Entry("every interface", "http://0.0.0.0/v1", false),
	)

	DescribeTable("is refused with everything that is wrong",
		func(cfg openai.Config, parts ...string) {
			_, err := openai.New(cfg)
			for _, part := range parts {
				Expect(err).To(MatchError(ContainSubstring(part)))
			}
			Expect(err.Error()).NotTo(ContainSubstring("secret"))
		},
		Entry("no scheme", openai.Config{BaseURL: "example.com/v1"}, "not of the form https://host/v1"),
		Entry("another scheme", openai.Config{BaseURL: "file:///etc/passwd"}, "not of the form"),
		Entry("a URL that does not parse and holds a password", openai.Config{BaseURL: "https://me:secret@\x00"}, "not of the form"),
		Entry("a password", openai.Config{BaseURL: "https://me:secret@example.com/v1"}, "has a user"),
		Entry("a key as user", openai.Config{BaseURL: "https://secret@example.com/v1"}, "has a user"),
		Entry("a key in a query", openai.Config{BaseURL: "https://example.com/v1?key=secret"}, "a query"),
		Entry("a key in a query of another machine", openai.Config{BaseURL: "https://example.com/v1?key=secret", Offline: true}, "a query"),
		Entry("a key in a query without a scheme", openai.Config{BaseURL: "example.com/v1?key=secret"}, "not of the form"),
		Entry("a key in a fragment", openai.Config{BaseURL: "https://example.com/v1#secret"}, "a fragment"),
		Entry("a password and a key", openai.Config{BaseURL: "https://me:secret@example.com/v1?key=se@secret"}, "has a user"),
		Entry("a query", openai.Config{BaseURL: "https://example.com/v1?x=1"}, "a query"),
		Entry("a key of two lines", openai.Config{APIKey: "secret\nX-Evil: 1"}, "API key has a line break"),
		Entry("negative times", openai.Config{AttemptTimeout: -1, Retry: openai.RetryPolicy{Base: -1}}, "attempt timeout", "negative", "retry waits"),
	)

	It("is available with a key, or on this machine without one", Label("L-02"), func(ctx context.Context) {
		remote, err := openai.New(openai.Config{})
		Expect(err).NotTo(HaveOccurred())
		Expect(remote.Available(ctx)).To(MatchError(And(ContainSubstring("OPENAI_API_KEY"), ContainSubstring("OPENAI_BASE_URL"))))
		keyed, err := openai.New(openai.Config{APIKey: key, ID: "mine"})
		Expect(err).NotTo(HaveOccurred())
		Expect(keyed.Available(ctx)).To(Succeed())
		local, err := openai.New(openai.Config{BaseURL: loopback})
		Expect(err).NotTo(HaveOccurred())
		Expect(local.Available(ctx)).To(Succeed())

		found, err := llm.FindAdapter(ctx, "mine", remote, keyed)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.ID()).To(Equal("mine"))
	})

	It("never prints the key", func() {
		cfg := openai.Config{APIKey: key, BaseURL: "https://u:sk-very-secret@example.com", AttemptTimeout: time.Second}
		b, err := openai.New(openai.Config{APIKey: key})
		Expect(err).NotTo(HaveOccurred())
		for _, verb := range strings.Fields("%v %+v %#v %s %q %x %d") {
			for _, value := range []any{cfg, &cfg, b, []openai.Config{cfg}} {
				Expect(fmt.Sprintf(verb, value)).NotTo(ContainSubstring(key))
			}
		}
		Expect(fmt.Sprint(b)).To(Equal("openai (https://api.openai.com/v1)"))
	})
})
