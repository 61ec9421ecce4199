package redact

import (
	"encoding/base64"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/escape"
)

// The functions here decide whether a literal begins a secret, and where the secret ends; see literal.end.

func wholeLiteral(_ *searched, from int, l *literal) (start, to int) { return from, from + len(l.text) }

// maxDots is the number of trailing dots that do not belong to a token.
const maxDots = 3

// token accepts a literal that does not continue a word and is followed by at least least bytes of the
// class, which must pass the test random unless it is nil.
func token(c class, least int, random func(string) bool) func(*searched, int, *literal) (int, int) {
	return func(t *searched, from int, l *literal) (start, to int) {
		begin := from + len(l.text)
		to = t.run(begin, c)
		for range maxDots {
			if c == dotted && to > begin && t.s[to-1] == '.' {
				to-- // the end of a sentence
			}
		}
		if to-begin < least || !border(t.s, from) || random != nil && !random(t.s[begin:to]) {
			return 0, 0
		}
		return from, to
	}
}

// border reports whether a word may begin at s[at]: not after a letter or digit, unless that ends a colour
// code of a terminal, such as "\x1b[32m".
func border(s string, at int) bool {
	if at == 0 || !members[alnum][s[at-1]] {
		return true
	}
	const longest = 20
	code := strings.TrimRight(s[max(0, at-longest):at-1], "0123456789;")
	return strings.HasSuffix(code, "\x1b[")
}

// examined limits the part of a token that is tested for randomness, in bytes.
const examined = 256

// someDigit distinguishes keys from words of the same shape ("sk-learn-contrib").
func someDigit(body string) bool {
	return strings.ContainsAny(body[:min(len(body), examined)], "0123456789")
}

// mixed reports whether body has letters of both cases.
func mixed(body string) bool {
	body = body[:min(len(body), examined)]
	return body != strings.ToLower(body) && body != strings.ToUpper(body)
}

// blank returns the end of the spaces and tabs at s[i]; it skips up to 16.
func blank(s string, i int) int {
	const most = 16
	for end := min(len(s), i+most); i < end && (s[i] == ' ' || s[i] == '\t'); {
		i++
	}
	return i
}

// longWord is a length in bytes that names of classes usually do not reach.
const longWord = 40

// bearer keeps the word and replaces the token after it (RFC 6750, b64token).
func bearer(t *searched, from int, l *literal) (start, to int) {
	word := from + len(l.text)
	start = blank(t.s, word)
	if start == word || !border(t.s, from) {
		return 0, 0
	}
	to = t.run(start, b64)
	body := t.s[start:to]
	random := someDigit(body) || len(body) >= longWord && mixed(body)
	if len(body) < 16 || !random {
		return 0, 0
	}
	return start, to
}

// basic keeps the word and replaces user and password after it (RFC 7617), which must be base64 of a text
// with a colon.
func basic(t *searched, from int, l *literal) (start, to int) {
	word := from + len(l.text)
	start = blank(t.s, word)
	if start == word || !border(t.s, from) {
		return 0, 0
	}
	to = t.run(start, b64)
	const longest = 4096
	if to-start < 8 || to-start > longest {
		return 0, 0
	}
	body := strings.TrimRight(t.s[start:to], "=.")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := e.DecodeString(body); err == nil && strings.Contains(string(text), ":") {
			return start, to
		}
	}
	return 0, 0
}

// schemes has the words before the secret of an Authorization header.
var schemes = []string{"bearer ", "basic ", "token ", "apikey ", "api-key ", "bot "}

// authorization keeps the name of the header and the scheme, and replaces the rest.
func authorization(t *searched, from int, l *literal) (start, to int) {
	start, ok := afterName(t.s, from+len(l.text))
	if !ok {
		return 0, 0
	}
	known := false
	for _, scheme := range schemes {
		if len(t.s)-start >= len(scheme) && strings.EqualFold(t.s[start:start+len(scheme)], scheme) {
			start, known = blank(t.s, start+len(scheme)), true
			break
		}
	}
	to = t.run(start, b64)
	body := t.s[start:to]
	switch {
	case len(body) < 8, !someDigit(body) && strings.ContainsAny(body[:min(len(body), examined)], "-_."):
		return 0, 0 // a placeholder such as YOUR_API_KEY
	case !known && (len(body) < 16 || !someDigit(body)):
		return 0, 0
	}
	return start, to
}

// header keeps the name of a header such as x-api-key and replaces its value.
func header(t *searched, from int, l *literal) (start, to int) {
	start, ok := afterName(t.s, from+len(l.text))
	if !ok {
		return 0, 0
	}
	to = t.run(start, b64)
	if body := t.s[start:to]; len(body) < 12 || !someDigit(body) {
		return 0, 0
	}
	return start, to
}

// afterName returns the beginning of the value after a name that ends at s[i]: after a colon or an equals
// sign, with quotes, brackets and blanks around it.
func afterName(s string, i int) (at int, ok bool) {
	quote := func() {
		if i < len(s) && strings.IndexByte(`"'[`, s[i]) >= 0 {
			i++
		}
	}
	quote()
	i = blank(s, i)
	if i == len(s) || s[i] != ':' && s[i] != '=' {
		return 0, false
	}
	i = blank(s, i+1)
	quote()
	quote()
	return i, true
}

// jsonToken accepts three parts of base64url, separated by dots (JWS, RFC 7515), or five parts, of which
// the second may be empty (JWE, RFC 7516).
func jsonToken(t *searched, from int, _ *literal) (start, to int) {
	if from < t.tried {
		return 0, 0 // within a header that was already tried
	}
	var parts, ends []int
	for at := from; len(parts) < 5; {
		end := t.run(at, key)
		parts, ends = append(parts, end-at), append(ends, end)
		if end == len(t.s) || t.s[end] != '.' {
			break
		}
		at = end + 1
	}
	t.tried = ends[0]
	const least = 8
	switch {
	case parts[0] < least:
	case len(parts) == 5 && parts[2] >= least && parts[3] > 0 && parts[4] >= least:
		return from, ends[4]
	case len(parts) >= 3 && parts[1] >= least && parts[2] >= least:
		return from, ends[2]
	}
	return 0, 0
}

// userinfo replaces the password of a URL (RFC 3986, section 3.2.1).
func userinfo(t *searched, from int, l *literal) (start, to int) {
	const longest = 512
	start = from + len(l.text)
	s := t.s[start:min(len(t.s), start+longest)]
	for i := range len(s) {
		if s[i] <= ' ' || strings.IndexByte("/?#\"'<>`", s[i]) >= 0 {
			s = s[:i]
			break
		}
		if _, n := escape.Next(s[i:]); n > 0 {
			s = s[:i]
			break
		}
	}
	colon, at := strings.IndexByte(s, ':'), strings.LastIndexByte(s, '@')
	if from == 0 || !members[alnum][t.s[from-1]] || colon < 0 || at <= colon+1 || placeholder(s[colon+1:at]) {
		return 0, 0
	}
	return start + colon + 1, start + at
}

// placeholder reports whether a password is a placeholder: ${PASSWORD}, <password>, ***.
func placeholder(password string) bool {
	return strings.IndexByte("${<[*%", password[0]) >= 0 && strings.IndexByte("}>]*)", password[len(password)-1]) >= 0 ||
		strings.Contains(password, "[REDACTED:") || strings.Trim(password, "*x.") == ""
}

// The lines around a private key (RFC 7468; RFC 9580, section 6.2 for OpenPGP).
const (
	beginLine = "-----BEGIN "
	endLine   = "-----END "
	dashes    = "-----"
)

// privateKey accepts a whole block. A truncated block ends at the next quotation mark, which ends its
// string, or with the text.
func privateKey(t *searched, from int, l *literal) (start, to int) {
	const longestLabel = 64
	if from < t.block {
		return 0, 0
	}
	begin := from + len(l.text)
	label, _, ok := strings.Cut(t.s[begin:min(len(t.s), begin+longestLabel+len(dashes))], dashes)
	if !ok || !strings.HasSuffix(strings.TrimSuffix(label, " BLOCK"), "PRIVATE KEY") {
		return 0, 0
	}
	body := begin + len(label) + len(dashes)
	closed, next := t.closing.next(t.s, endLine, body), t.opening.next(t.s, beginLine, body)
	switch {
	case closed >= 0 && (next < 0 || closed < next):
		to = closed + len(endLine)
		if i := strings.Index(t.s[to:min(len(t.s), to+longestLabel+len(dashes))], dashes); i >= 0 {
			to += i + len(dashes)
		}
	default:
		to = len(t.s)
		if next >= 0 {
			to = next
		}
		if i := strings.IndexByte(t.s[body:to], '"'); i >= 0 {
			to = body + len(strings.TrimRight(t.s[body:body+i], `\`))
		}
	}
	t.block = to
	return from, to
}
