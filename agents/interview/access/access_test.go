package access_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/access"
)

func TestAccess(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "interview access")
}

const (
	secret = "a secret of this server, of enough bytes"
	older  = "the secret that was used before this one"
)

var now = time.Date(2026, 3, 1, 9, 30, 12, 0, time.UTC)

func keys(secrets ...string) access.Keys {
	k, err := access.NewKeys(secrets...)
	if err != nil {
		panic(err)
	}
	return k
}

var _ = Describe("Keys", func() {
	DescribeTable("refuse secrets that could be guessed",
		func(reason string, secrets ...string) {
			_, err := access.NewKeys(secrets...)
			Expect(err).To(MatchError(ContainSubstring(reason)))
		},
		Entry("none", "no secret"), Entry("a short one", "secret 2 has 5 characters", secret, "short"),
	)
})

var _ = Describe("A signed text", func() {
	It("opens the session that it was made for, until it expires", func() {
		k := keys(secret)
		signed := k.Sign(access.Link, "4KQZ", now.Add(time.Hour))
		Expect(signed).To(MatchRegexp("^[a-z2-7]+$"))
		Expect(k.Open(access.Link, signed, now.Add(time.Hour-time.Second))).To(Equal("4KQZ"))
		_, err := k.Open(access.Link, signed, now.Add(time.Hour))
		Expect(err).To(MatchError(access.ErrExpired))
		_, err = k.Open(access.Cookie, signed, now)
		Expect(err).To(MatchError(access.ErrForged), "another purpose")
		_, err = keys(older).Open(access.Link, signed, now)
		Expect(err).To(MatchError(access.ErrForged), "another server")
		Expect(keys(older, secret).Open(access.Link, signed, now)).To(Equal("4KQZ"), "after the key was replaced")
	})

	It("has one form", func() {
		k := keys(secret)
		signed := k.Sign(access.Link, "4K", now.Add(time.Hour)) // its last symbol has spare bits
		opened := 0
		for _, last := range "abcdefghijklmnopqrstuvwxyz234567" {
			if _, err := k.Open(access.Link, signed[:len(signed)-1]+string(last), now); err == nil {
				opened++
			}
		}
		Expect(opened).To(Equal(1))
	})

	It("is refused with any change", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			k := keys(secret)
			id := rapid.StringN(1, 40, 128).Draw(t, "id")
			signed := k.Sign(access.Link, id, now.Add(time.Hour))
			if got, err := k.Open(access.Link, signed, now); err != nil || got != id {
				t.Fatalf("got %q, %v", got, err)
			}
			at := rapid.IntRange(0, len(signed)-1).Draw(t, "at")
			with := rapid.StringOfN(rapid.RuneFrom([]rune("abc237=-A\n\x00é")), 0, 2, -1).Draw(t, "with")
			if changed := signed[:at] + with + signed[at+1:]; changed != signed {
				if _, err := k.Open(access.Link, changed, now); err == nil {
					t.Fatalf("%q was accepted for %q", changed, signed)
				}
			}
		})
	})
})

var _ = Describe("A code", func() {
	It("is short, and is read as people type it", func() {
		k := keys(secret)
		text := k.Code("4KQZ", now).String()
		Expect(text).To(MatchRegexp("^([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$"))
		for _, typed := range []string{
			text, strings.ToLower(text), strings.ReplaceAll(text, "-", ""), " " + strings.ReplaceAll(text, "-", " ") + "\n",
			strings.NewReplacer("0", "o", "1", "l").Replace(text), strings.ReplaceAll(text, "-", "–"),
		} {
			c, ok := access.ParseCode(typed)
			Expect(ok).To(BeTrue(), typed)
			Expect(k.Matches(c, "4KQZ", now)).To(BeTrue(), typed)
			Expect(c.String()).To(Equal(text))
		}
	})

	It("opens no other session", func() {
		k := keys(secret)
		c := k.Code("4KQZ", now)
		Expect(k.Matches(c, "4KQY", now)).To(BeFalse())
		Expect(k.Matches(c, "4KQZ", now.Add(time.Minute))).To(BeFalse())
		Expect(keys(older).Matches(c, "4KQZ", now)).To(BeFalse())
		Expect(keys(older, secret).Matches(c, "4KQZ", now)).To(BeTrue())
		Expect(k.Matches(access.Code{}, "4KQZ", now)).To(BeFalse())
	})

	It("finds the minute of the session for two years", func() {
		rapid.Check(GinkgoTB(), func(t *rapid.T) {
			created := time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "created"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
			later := created.Add(time.Duration(rapid.Int64Range(0, int64(2*365*24*time.Hour)).Draw(t, "age")))
			c, ok := access.ParseCode(keys(secret).Code("a", created).String())
			if !ok {
				t.Fatal("the code cannot be read")
			}
			for _, minute := range c.Minutes(later) {
				if minute.Equal(created.Truncate(time.Minute)) {
					return
				}
			}
			t.Fatalf("%v is not in %v", created, c.Minutes(later))
		})
	})
})

func FuzzOpen(f *testing.F) {
	k := keys(secret, older)
	f.Add(k.Sign(access.Link, "4KQZ", now.Add(time.Hour)))
	f.Add(k.Sign(access.Cookie, "4KQZ", now.Add(time.Hour)))
	f.Add(strings.Repeat("a", 1000))
	f.Fuzz(func(t *testing.T, text string) {
		id, err := k.Open(access.Link, text, now)
		if err == nil && text != k.Sign(access.Link, id, now.Add(time.Hour)) {
			t.Fatalf("%q opens %q", text, id)
		}
	})
}

func FuzzParseCode(f *testing.F) {
	f.Add(keys(secret).Code("4KQZ", now).String())
	f.Add("o0il-ILOU-\u00a0é\x00")
	f.Fuzz(func(t *testing.T, text string) {
		c, ok := access.ParseCode(text)
		if !ok {
			return
		}
		again, ok := access.ParseCode(c.String())
		if !ok || again != c || c.Minute < 0 || c.Minute >= 1<<20 {
			t.Fatalf("%q gives %v, then %v", text, c, again)
		}
	})
}
