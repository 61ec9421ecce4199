package access

import (
	"crypto/hmac"
	"encoding/base32"
	"strings"
	"time"
)

// Code is a short code of a session, for people to read and type. It consists of the minute in which
// the session was created, modulo about two years, which finds the session, and of 40 secret bits.
type Code struct {
	// Minute is the minute since 1970 modulo 2^20.
	Minute int
	secret string // 8 symbols
}

// symbols are those of Crockford's base 32: no I, L, O and U.
const symbols = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

const (
	minuteSymbols = 4
	minutes       = 1 << (5 * minuteSymbols)
	secretBytes   = 5
	secretSymbols = secretBytes * 8 / 5
	maxTyped      = 64
)

var crockford = base32.NewEncoding(symbols).WithPadding(base32.NoPadding)

func minuteOf(t time.Time) int {
	return int(((t.Unix()/60)%minutes + minutes) % minutes)
}

func codeSecret(key []byte, id string) string {
	return crockford.EncodeToString(sum(key, "code", id)[:secretBytes])
}

// Code returns the code of a session.
func (k Keys) Code(id string, created time.Time) Code {
	return Code{Minute: minuteOf(created), secret: codeSecret(k.secrets[0], id)}
}

// Matches reports whether c is the code of a session. The time that it takes does not depend on the
// secret.
func (k Keys) Matches(c Code, id string, created time.Time) bool {
	found := false
	for _, key := range k.secrets {
		found = hmac.Equal([]byte(c.secret), []byte(codeSecret(key, id))) || found
	}
	return found && c.Minute == minuteOf(created)
}

// Minutes returns the starts of the minutes in which the session of the code may have been created,
// newest first: the last two before now.
func (c Code) Minutes(now time.Time) []time.Time {
	back := (minuteOf(now) - c.Minute + minutes) % minutes
	latest := now.Truncate(time.Minute).Add(-time.Duration(back) * time.Minute)
	return []time.Time{latest, latest.Add(-minutes * time.Minute)}
}

// String returns the code in groups of four symbols, such as "K7QM-9TXR-4BWD".
func (c Code) String() string {
	var b strings.Builder
	for shift := 5 * (minuteSymbols - 1); shift >= 0; shift -= 5 {
		b.WriteByte(symbols[c.Minute>>shift&31])
	}
	return b.String() + "-" + c.secret[:secretSymbols/2] + "-" + c.secret[secretSymbols/2:]
}

// alike replaces symbols that no code has by those that they are mistaken for, and removes separators.
var alike = strings.NewReplacer("O", "0", "I", "1", "L", "1", "-", "", " ", "", "\u00a0", "", ".", "",
	"\u2010", "", "\u2011", "", "\u2013", "", "\u2212", "")

// ParseCode reads a typed code: in either case, with or without separators, also with O for 0 and I or L
// for 1. It returns false for a text that is not a code of any session.
func ParseCode(typed string) (Code, bool) {
	if len(typed) > maxTyped {
		return Code{}, false
	}
	text := alike.Replace(strings.ToUpper(strings.TrimSpace(typed)))
	if len(text) != minuteSymbols+secretSymbols || strings.Trim(text, symbols) != "" {
		return Code{}, false
	}
	c := Code{secret: text[minuteSymbols:]}
	for _, symbol := range text[:minuteSymbols] {
		c.Minute = c.Minute<<5 | strings.IndexRune(symbols, symbol)
	}
	return c, true
}
