package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/redact"
)

// alpha and mixed are bodies of keys without and with digits.
var (
	alpha = strings.Repeat("qWeRtYuIoP", 6)
	mixed = strings.Repeat("aB3dE6gH9k", 6)
)

var _ = DescribeTable("The redactor replaces",
	func(text, want string) {
		Expect(redact.New(nil).Text(text)).To(Equal(want))
	},
	Entry("an OpenAI project key without a digit", "sk-"+"proj-"+alpha, "[REDACTED:api-key]"),
	Entry("a Groq key", "k="+"gsk"+"_"+mixed, "k=[REDACTED:api-key]"),
	Entry("an xAI key", "xai"+"-"+mixed, "[REDACTED:api-key]"),
	Entry("a Hugging Face token", "hf"+"_"+alpha[:34]+".", "[REDACTED:huggingface-token]."),
	Entry("a GitLab token", "glpat"+"-"+mixed[:20], "[REDACTED:gitlab-token]"),
	Entry("a routable GitLab token at the end of a sentence", "glpat"+"-"+mixed[:27]+".01.0w1abc234.", "[REDACTED:gitlab-token]."),
	Entry("an npm token", "//registry/:_authToken=npm"+"_"+alpha[:36], "//registry/:_authToken=[REDACTED:npm-token]"),
	Entry("a Stripe key", "sk"+"_live_"+mixed[:24], "[REDACTED:stripe-key]"),
	Entry("a restricted Stripe key", "rk"+"_live_"+mixed[:24], "[REDACTED:stripe-key]"),
	Entry("a Slack app token", "xapp"+"-1-A0123456789-"+mixed[:20], "[REDACTED:slack-token]"),
	Entry("a SendGrid key", "SG"+"."+mixed[:22]+"."+mixed[:43], "[REDACTED:sendgrid-key]"),
	Entry("a Google token", "ya29"+"."+mixed, "[REDACTED:google-token]"),
	Entry("user and password of HTTP", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("me:pässword")), "Authorization: Basic [REDACTED:basic-auth]"),
	Entry("the same without the name of the header", "curl -H 'basic "+base64.RawStdEncoding.EncodeToString([]byte("me:word"))+"'", "curl -H 'basic [REDACTED:basic-auth]'"),
	Entry("a scheme in capitals", "BEARER abcdef0123456789", "BEARER [REDACTED:bearer-token]"),
	Entry("a tab and several spaces", "Bearer\tabcdef0123456789 bearer   abcdef0123456789", "Bearer\t[REDACTED:bearer-token] bearer   [REDACTED:bearer-token]"),
	Entry("a token without a digit, identified by its header", `"Authorization": "Bearer abcdefghijklmnopqrst"`, `"Authorization": "Bearer [REDACTED:authorization]"`),
	Entry("another scheme", "authorization: token 0123456789abcdef", "authorization: token [REDACTED:authorization]"),
	Entry("the header of a key", "x-api-key: 0123456789abcdef", "x-api-key: [REDACTED:api-key]"),
	Entry("the same as Go prints headers", "map[X-Api-Key:[0123456789abcdef]]", "map[X-Api-Key:[[REDACTED:api-key]]]"),
	Entry("the same as an option", "--private-token='0123456789abcdef'", "--private-token='[REDACTED:api-key]'"),
	Entry("the password of a database", "postgres://user:p4ss@host/db", "postgres://user:[REDACTED:url-password]@host/db"),
	Entry("the password of a URL without a user", "redis://:p4ss@host", "redis://:[REDACTED:url-password]@host"),
	Entry("a password with an @", "https://u:p@ss@host/a@b", "https://u:[REDACTED:url-password]@host/a@b"),
	Entry("an OpenPGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQ\n-----END PGP PRIVATE KEY BLOCK-----.", "[REDACTED:private-key]."),
	Entry("a key that is cut off within a string", `{"a":"-----BEGIN PRIVATE KEY-----\nMIIE","b":1}`, `{"a":"[REDACTED:private-key]","b":1}`),
	Entry("a key that is cut off before another one", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nx", "[REDACTED:private-key][REDACTED:private-key]\nx"),
	Entry("an encrypted token with all parts", "eyJhbGciOiJSU0EifQ."+alpha+"."+mixed[:16]+".aBc."+mixed[:22]+" x", "[REDACTED:jwt] x"),
	Entry("an encrypted token with an agreed key", "eyJhbGciOiJkaXIifQ.."+mixed[:16]+".aBcD."+mixed[:22], "[REDACTED:jwt]"),
	Entry("a token after a colour code", "\x1b[1;32mghp"+"_"+mixed[:36]+"\x1b[0m", "\x1b[1;32m[REDACTED:github-token]\x1b[0m"),
)

var _ = DescribeTable("The redactor leaves ordinary text alone:",
	func(text string) {
		Expect(redact.New(nil).Text(text)).To(Equal(text))
	},
	Entry("a word with the letters of a prefix", "self.hf_hub_download(repo) and transformers_hf_model_name_with_a_long_tail_of_words"),
	Entry("a prefix within a word", "xghp"+"_"+mixed[:36]),
	Entry("names of npm's variables", "npm_config_user_agent npm_package_dependencies_typescript npm_lifecycle_event"),
	Entry("words that begin like Slack tokens", "xapp-deployment-configuration-template xapp-1"),
	Entry("prose about authentication", "Use basic authentication with Bearer tokens; the bearer of this letter. Basic understanding-of-http/2."),
	Entry("a placeholder", "Authorization: Bearer YOUR_API_KEY; x-api-key: $ANTHROPIC_API_KEY; x-api-key: your-anthropic-api-key"),
	Entry("the key that driven agents get", "Authorization: Bearer rehearse-works-nowhere-else"),
	Entry("an annotation", "authorization: required authorization=none Authorization: see section 4.2"),
	Entry("a class in code", "new Bearer AuthenticationSchemeHandler"),
	Entry("basic that is not base64 of a user", "BASIC aGVsbG8gd29ybGQ="),
	Entry("a URL without a password", "https://user@host/ ssh://git@github.com:22/x http://127.0.0.1:8080/a@b?c:d@e"),
	Entry("a path with a version", "go install example.com/x/cmd@v1.2.3 and npm:@scope/name@1.0.0"),
	Entry("a mail address", "see https://host: me@example.com"),
	Entry("a placeholder for a password", "postgres://user:${PASSWORD}@h postgres://u:<password>@h x://u:xxxxx@h x://u:***@h"),
	Entry("a string that ends before a mail address", `{"a":"http://host\nuser:me@example.com"}`),
	Entry("a public key", "-----BEGIN PGP PUBLIC KEY BLOCK-----\nmQ\n-----END PGP PUBLIC KEY BLOCK-----"),
	Entry("a table", "|-----|-----|\n-----------BEGIN"),
	Entry("a sentence of the shop", "SG.1 is the section, ya29.short, sk_live_streaming glpat-short"),
	Entry("a domain with dots", "eyJhbGciOiJI.example.com"),
	Entry("escapes that hide nothing", `C:\new\table "a\nb" \u0041 100%25 %20`),
	Entry("text that is already redacted", "[REDACTED:api-key] https://u:[REDACTED:url-password]@h Bearer [REDACTED:jwt]"),
)

// nested encodes a text like tools and protocols do: as a JSON string, in an object, in a URL.
var nested = map[string]func(string) string{
	"json": func(s string) string { b, _ := json.Marshal(map[string]string{"v": s}); return string(b) },
	// Escapes every character; some clients escape everything except letters.
	"unicode": func(s string) string {
		var b strings.Builder
		for _, r := range s {
			if r > 0xffff {
				return strconv.Quote(s)
			}
			b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatInt(int64(r), 16))) + strconv.FormatInt(int64(r), 16))
		}
		return `"` + b.String() + `"`
	},
	"url":   func(s string) string { return "https://h/?q=" + url.PathEscape(s) },
	"plain": func(s string) string { return "a: " + s },
}

var _ = Describe("Secrets in encoded text", func() {
	const value = "pa\"ss\\wo/rd & \x01é\t12"
	known := redact.New([]string{value, "line one of 2 with spaces\r\n0123456789abcdef-second\nthird=value/of+3words\n", "\"quoted-value\"\n", "hunter2-hunter2"})

	It("are found at any realistic depth, with each border and in each spelling", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			secret := rapid.SampledFrom([]string{value, "ghp" + "_" + mixed[:36], "sk-" + "proj-" + mixed, "AKIA" + "IOSFODNN7EXAMPLE"}).Draw(t, "secret")
			border := rapid.SampledFrom([]string{"\n", "\t", "\r", `"`, "&", "/", `\`, " ", "<", "é", "\u2028"})
			text := "word" + border.Draw(t, "before") + secret + border.Draw(t, "behind") + "word"
			ways := rapid.SliceOfN(rapid.SampledFrom([]string{"json", "unicode", "plain"}), 0, 3).Draw(t, "ways")
			for _, way := range ways {
				text = nested[way](text)
			}
			if rapid.Bool().Draw(t, "url") {
				text = nested["url"](text)
			}
			got := known.Text(text)
			if strings.Count(got, "[REDACTED:") != 1 {
				t.Fatalf("%q became %q", text, got)
			}
			if again := known.Text(got); again != got {
				t.Fatalf("%q became %q, and again %q", text, got, again)
			}
		})
	})

	It("leave the JSON around them unchanged", func() {
		inner := nested["json"]("# keys\nghp" + "_" + mixed[:36] + "\n" + value)
		for range 4 {
			got := known.Text(inner)
			var level any = got
			for text, ok := level.(string); ok; text, ok = level.(string) {
				var object map[string]any
				if json.Unmarshal([]byte(text), &object) != nil {
					Expect(text).To(Equal("# keys\n[REDACTED:github-token]\n[REDACTED:secret]"))
					break
				}
				level = object["v"]
			}
			inner = nested["json"](inner)
		}
	})

	DescribeTable("are found in other spellings",
		func(text, want string) { Expect(known.Text(text)).To(Equal(want)) },
		Entry("in base64", "x "+base64.StdEncoding.EncodeToString([]byte("hunter2-hunter2")), "x [REDACTED:secret]"),
		Entry("in base64 of a longer text", base64.StdEncoding.EncodeToString([]byte("me:hunter2-hunter2:more")), "bWU6[REDACTED:secret]Om1vcmU="),
		Entry("the same, one byte further", base64.StdEncoding.EncodeToString([]byte("you:hunter2-hunter2:more")), "eW91O[REDACTED:secret]ptb3Jl"),
		Entry("the same, one byte less", base64.StdEncoding.EncodeToString([]byte("m:hunter2-hunter2")), "bT[REDACTED:secret]="),
		Entry("in base64 for URLs", base64.RawURLEncoding.EncodeToString([]byte(value)), "[REDACTED:secret]"),
		Entry("in hexadecimal digits", hex.EncodeToString([]byte("hunter2-hunter2")), "[REDACTED:secret]"),
		Entry("in upper-case hexadecimal digits", strings.ToUpper(hex.EncodeToString([]byte("hunter2-hunter2"))), "[REDACTED:secret]"),
		Entry("in a URL", "q="+url.QueryEscape(value), "q=[REDACTED:secret]"),
		Entry("in a URL, in lower case", "q="+strings.ToLower(url.PathEscape("hunter2-hunter2/&"))+"x", "q=[REDACTED:secret]%2f&x"),
		Entry("without its quotation marks and line ending", "is quoted-value.", "is [REDACTED:secret]."),
		Entry("with other line endings", "line one of 2 with spaces\n0123456789abcdef-second\nthird=value/of+3words", "[REDACTED:secret]"),
		Entry("one line of several", "grep: 0123456789abcdef-second", "grep: [REDACTED:secret]"),
		Entry("except a line of words", "line one of 2 with spaces", "line one of 2 with spaces"),
	)

	It("never leave a partial escape", func() {
		r := redact.New([]string{"nabcdefgh", `abcdefgh\`})
		Expect(r.Text(`{"v":"\nabcdefgh"}`)).To(Equal(`{"v":"[REDACTED:secret]"}`))
		got := r.Text(`{"v":"abcdefgh\\\""}`)
		Expect(got).To(ContainSubstring("[REDACTED:secret]"))
		Expect(json.Valid([]byte(got))).To(BeTrue(), got)
	})

	It("are replaced from eight bytes on", func() {
		r := redact.New([]string{"8-bytes!", "7-bytes"})
		Expect(r.Text("8-bytes! 7-bytes")).To(Equal("[REDACTED:secret] 7-bytes"))
	})
})

// FuzzRedactNested checks any text around a secret that does not adjoin it: however
// often the text is encoded as JSON, no secret is left, and the text can be decoded again.
func FuzzRedactNested(f *testing.F) {
	const value = `qu"oted-secret\value 1`
	r := redact.New([]string{value})
	secrets := []string{value, "ghp" + "_" + mixed[:36], "sk-" + "proj-" + mixed}
	for _, text := range []string{"&", "\n", "\\", "\\n", "%0a", "a\"", "\u2028", "é", `\u00`, "x\\"} {
		f.Add(text, text, uint8(1), uint8(0))
		f.Add(text, "", uint8(3), uint8(1))
	}
	f.Fuzz(func(t *testing.T, before, behind string, depth, which uint8) {
		secret := secrets[int(which)%len(secrets)]
		text := strings.ToValidUTF8(before, "?") + " " + secret + " " + strings.ToValidUTF8(behind, "?")
		if strings.Contains(text, "://") || strings.Contains(text, "-----BEGIN") {
			return // the secret may be replaced together with the surrounding text
		}
		written := text
		for range depth % 5 {
			b, err := json.Marshal(map[string]string{"v": written})
			if err != nil {
				t.Fatal(err)
			}
			written = string(b)
		}
		got := r.Text(written)
		if r.Text(got) != got {
			t.Errorf("%q became %q, and again %q", written, got, r.Text(got))
		}
		for range depth % 5 {
			var object map[string]string
			if err := json.Unmarshal([]byte(got), &object); err != nil {
				t.Fatalf("%q is no longer JSON: %v", got, err)
			}
			got = object["v"]
		}
		if strings.Contains(got, secret) {
			t.Errorf("%q is left in %q", secret, got)
		}
	})
}
