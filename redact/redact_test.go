package redact_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/redact"
)

// The keys are concatenated here, so that scanners do not report this file as a leak.
var secrets = map[string]string{
	"api-key":        "sk-" + "proj-4fK9dE2mPq7RtY1uXw3z",
	"slack-token":    "xoxb-" + "1234567890-abcdefghij",
	"github-token":   "ghp_" + strings.Repeat("a1B2c3", 6),
	"aws-key-id":     "AKIA" + "IOSFODNN7EXAMPLE",
	"google-api-key": "AIza" + strings.Repeat("SyD-9_x", 5),
	"jwt":            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + "dozjgNryP4J3jVmNHl0w5N",
	"private-key":    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
	"secret":         "hunter2-hunter2",
}

const redacted = "[REDACTED:secret]"

var _ = Describe("Redactor", func() {
	r := redact.New([]string{secrets["secret"], "correct horse", "short", ""})

	DescribeTable("replaces secrets and nothing else",
		func(text, want string) {
			Expect(r.Text(text)).To(Equal(want))
		},
		Entry("a known value", "pw=hunter2-hunter2.", "pw=[REDACTED:secret]."),
		Entry("a known value without rare bytes", "the correct horse is", "the [REDACTED:secret] is"),
		Entry("an OpenAI key", "key "+secrets["api-key"]+",", "key [REDACTED:api-key],"),
		Entry("an Anthropic key", "sk-"+"ant-api03-"+strings.Repeat("Ab1_", 8), "[REDACTED:api-key]"),
		Entry("a GitHub token", "x"+" "+secrets["github-token"], "x [REDACTED:github-token]"),
		Entry("a fine-grained GitHub token", "github_pat_"+strings.Repeat("1aB_", 8), "[REDACTED:github-token]"),
		Entry("an AWS key id", "id="+secrets["aws-key-id"], "id=[REDACTED:aws-key-id]"),
		Entry("an AWS session key id", "ASIA"+"IOSFODNN7EXAMPLE", "[REDACTED:aws-key-id]"),
		Entry("a Slack token", secrets["slack-token"], "[REDACTED:slack-token]"),
		Entry("a Google key", secrets["google-api-key"], "[REDACTED:google-api-key]"),
		Entry("a bearer token", "Authorization: Bearer abcdef0123456789==", "Authorization: Bearer [REDACTED:bearer-token]"),
		Entry("a bearer token in lower case", "bearer abcdef0123456789;", "bearer [REDACTED:bearer-token];"),
		Entry("a JSON Web Token", "t="+secrets["jwt"]+" ", "t=[REDACTED:jwt] "),
		Entry("a JSON Web Token as bearer: once", "Bearer "+secrets["jwt"], "Bearer [REDACTED:jwt]"),
		Entry("a private key", "a"+secrets["private-key"]+"b", "a[REDACTED:private-key]b"),
		Entry("a private key cut off", "a-----BEGIN PRIVATE KEY-----\nMIIE", "a[REDACTED:private-key]"),
		Entry("two at once", secrets["api-key"]+" "+secrets["secret"], "[REDACTED:api-key] [REDACTED:secret]"),
		Entry("a value within a key", "sk-"+"1234567890-hunter2-hunter2-0987654321.", "[REDACTED:api-key]."),
		Entry("the end of a word", "risk-adjusted-returns-2024-and-more", "risk-adjusted-returns-2024-and-more"),
		Entry("words with hyphens", "sk-learn-contrib-packages-rule", "sk-learn-contrib-packages-rule"),
		Entry("too short", "sk-1234 ghp_short AKIA123 Bearer me", "sk-1234 ghp_short AKIA123 Bearer me"),
		Entry("a certificate", "-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"),
		Entry("a short value", "a short word", "a short word"),
	)

	It("finds the well-known forms if nil", func() {
		var none *redact.Redactor
		Expect(none.Text(secrets["api-key"])).To(Equal("[REDACTED:api-key]"))
	})

	It("returns the positions of secrets and joins overlapping ones", func() {
		r := redact.New([]string{"first-value-9", "value-9-second"})
		Expect(r.Find("a first-value-9-second b AKIAABCDEFGHIJKLMNOP")).To(Equal([]redact.Secret{
			{From: 2, To: 22, Kind: "secret"}, {From: 25, To: 45, Kind: "aws-key-id"},
		}))
		Expect(r.Find("nothing")).To(BeEmpty())
		Expect(redact.Secret{Kind: "jwt"}.Mark()).To(Equal("[REDACTED:jwt]"))
	})

	It("leaves no known value in any text", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			values := rapid.SliceOfN(rapid.StringN(8, 20, -1), 1, 5).Draw(rt, "values")
			text := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.SampledFrom(values))).Draw(rt, "text"), "")
			got := redact.New(values).Text(text)
			for _, v := range values {
				if strings.Contains(got, v) && !strings.Contains(redacted, v) {
					rt.Fatalf("%q is left in %q", v, got)
				}
			}
		})
	})

	It("finds secrets in an environment by their names", func() {
		Expect(redact.SecretsIn([]string{
			"OPENAI_API_KEY=0123456789", "my_token=abcdefgh", "DB_PASSWORD=12345678", "CLIENT_SECRET=qwertyui=",
			"HOME=/home/somebody", "KEY=short", "NOVALUE",
		})).To(Equal([]string{"0123456789", "abcdefgh", "12345678", "qwertyui="}))
	})
})
