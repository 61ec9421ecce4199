package record

import "strings"

// forms is the Redactor of the well-known forms alone. The anchor bytes are
// chosen by hand: each is rare in prose and in code.
var forms = &Redactor{anchors: []anchor{
	{'-', []literal{
		{"sk-", "api-key", 2, token(keyByte, 16, true)},
		{"xoxb-", "slack-token", 4, token(keyByte, 10, false)},
		{"xoxa-", "slack-token", 4, token(keyByte, 10, false)},
		{"xoxp-", "slack-token", 4, token(keyByte, 10, false)},
		{"xoxr-", "slack-token", 4, token(keyByte, 10, false)},
		{"xoxs-", "slack-token", 4, token(keyByte, 10, false)},
	}},
	{'_', []literal{
		{"ghp_", "github-token", 3, token(alnum, 30, false)},
		{"gho_", "github-token", 3, token(alnum, 30, false)},
		{"ghu_", "github-token", 3, token(alnum, 30, false)},
		{"ghs_", "github-token", 3, token(alnum, 30, false)},
		{"ghr_", "github-token", 3, token(alnum, 30, false)},
		{"github_pat_", "github-token", 6, token(keyByte, 22, false)},
	}},
	{'K', []literal{{"AKIA", "aws-key-id", 1, token(upperDigit, 16, false)}}},
	{'S', []literal{{"ASIA", "aws-key-id", 1, token(upperDigit, 16, false)}}},
	{'z', []literal{{"AIza", "google-api-key", 2, token(keyByte, 35, false)}}},
	{'J', []literal{{"eyJ", "jwt", 2, jwt}}},
	{'B', []literal{
		{"Bearer ", "bearer-token", 0, bearer},
		{"-----BEGIN ", "private-key", 5, privateKey},
	}},
	{'b', []literal{{"bearer ", "bearer-token", 0, bearer}}},
}}

func wholeLiteral(_ string, from int, l *literal) (start, to int) { return from, from + len(l.text) }

// token accepts a literal that does not continue a word and is followed by at
// least least bytes of the class. Where words have the same shape as keys
// ("sk-learn-contrib"), a digit is required as well.
func token(class func(byte) bool, least int, digit bool) func(string, int, *literal) (int, int) {
	return func(s string, from int, l *literal) (start, to int) {
		to = run(s, from+len(l.text), class)
		body := s[from+len(l.text) : to]
		if len(body) < least || digit && !strings.ContainsAny(body, "0123456789") || from > 0 && alnum(s[from-1]) {
			return 0, 0
		}
		return from, to
	}
}

// bearer keeps the word and replaces the token behind it (RFC 6750, b64token).
func bearer(s string, from int, l *literal) (start, to int) {
	start = from + len(l.text)
	to = run(s, start, func(b byte) bool { return keyByte(b) || strings.IndexByte(".~+/=", b) >= 0 })
	if to-start < 16 || !strings.ContainsAny(s[start:to], "0123456789") {
		return 0, 0
	}
	return start, to
}

// jwt accepts three parts of base64url with dots between (RFC 7515).
func jwt(s string, from int, _ *literal) (start, to int) {
	to = from
	for part := range 3 {
		end := run(s, to, keyByte)
		if end-to < 8 {
			return 0, 0
		}
		to = end
		if part < 2 {
			if to == len(s) || s[to] != '.' {
				return 0, 0
			}
			to++
		}
	}
	return from, to
}

// privateKey takes the whole PEM block (RFC 7468), or all to the end of the text
// if the block is cut off.
func privateKey(s string, from int, l *literal) (start, to int) {
	label, _, ok := strings.Cut(s[from+len(l.text):], "-----")
	if !ok || len(label) > 64 || !strings.HasSuffix(label, "PRIVATE KEY") {
		return 0, 0
	}
	end := "-----END " + label + "-----"
	if i := strings.Index(s[from:], end); i >= 0 {
		return from, from + i + len(end)
	}
	return from, len(s)
}

// run returns the end of the run of bytes of the class that begins at s[i].
func run(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}

func upperDigit(b byte) bool { return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' }
func alnum(b byte) bool      { return upperDigit(b) || b >= 'a' && b <= 'z' }
func keyByte(b byte) bool    { return alnum(b) || b == '-' || b == '_' }
