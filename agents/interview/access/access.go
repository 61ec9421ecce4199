// Package access signs what gives a candidate access to an interview: cookies, personal links and short
// codes. All of them are derived from secret keys and the interview, so that nothing of them is stored.
package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The errors of Keys.Open.
var (
	ErrForged  = errors.New("the signature is not one of this server")
	ErrExpired = errors.New("the signature has expired")
)

// Purpose keeps signatures for different purposes apart.
type Purpose string

// The purposes.
const (
	Cookie Purpose = "cookie"
	Link   Purpose = "link"
)

// minSecret is the minimum length of a secret in bytes.
const minSecret = 32

// Keys sign and verify. The first one signs; all of them verify, so that keys can be replaced.
type Keys struct{ secrets [][]byte }

// NewKeys returns the keys of secrets: random texts of at least 32 bytes.
func NewKeys(secrets ...string) (Keys, error) {
	if len(secrets) == 0 {
		return Keys{}, errors.New("no secret is given")
	}
	var k Keys
	for i, s := range secrets {
		if len(s) < minSecret {
			return Keys{}, fmt.Errorf("secret %d has %d characters, expected at least %d; create one with openssl rand -hex 32",
				i+1, len(s), minSecret)
		}
		k.secrets = append(k.secrets, []byte(s))
	}
	return k, nil
}

func sum(secret []byte, purpose, content string) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(purpose + "\x00" + content))
	return mac.Sum(nil)
}

// A signature consists of an expiry time in seconds since 1970, a session's id, and the start of an
// HMAC-SHA-256, in lower-case base32, which no mail program cuts at the end.
const (
	expiryBytes = 8
	macBytes    = 16
	maxID       = 128
	maxSigned   = (expiryBytes+maxID+macBytes)*8/5 + 1
)

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Sign returns a text that Open accepts until a time. Ids have at most 128 bytes.
func (k Keys) Sign(p Purpose, id string, until time.Time) string {
	content := binary.BigEndian.AppendUint64(nil, uint64(max(until.Unix(), 0))) //nolint:gosec // not negative
	content = append(content, id...)
	return encoding.EncodeToString(append(content, sum(k.secrets[0], string(p), string(content))[:macBytes]...))
}

// Open returns the session's id in a signed text. Its error is ErrForged or ErrExpired.
func (k Keys) Open(p Purpose, signed string, now time.Time) (id string, err error) {
	if len(signed) > maxSigned || strings.ContainsAny(signed, "\r\n") {
		return "", ErrForged
	}
	data, err := encoding.DecodeString(signed)
	// Several texts may decode to the same bytes.
	if err != nil || len(data) <= expiryBytes+macBytes || encoding.EncodeToString(data) != signed {
		return "", ErrForged
	}
	content, mac := data[:len(data)-macBytes], data[len(data)-macBytes:]
	genuine := false
	for _, secret := range k.secrets {
		genuine = hmac.Equal(mac, sum(secret, string(p), string(content))[:macBytes]) || genuine
	}
	switch {
	case !genuine:
		return "", ErrForged
	case uint64(max(now.Unix(), 0)) >= binary.BigEndian.Uint64(content): //nolint:gosec // not negative
		return "", ErrExpired
	}
	return string(content[expiryBytes:]), nil
}
