// Package tape is the file format of a capture: the requests to a backend and its
// answers, with the boundaries of an answer's pieces and the gaps between them. It is
// JSON Lines, written as the exchanges end: a process that is killed leaves whole
// exchanges and at most one torn line.
//
// The first line is a Header, and so is one wherever a capture was resumed. Every other
// line is an Exchange. Secrets are replaced before.
package tape

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// schema names the format and its version.
const schema = "rehearse.capture/1"

// The values of a line's first member.
const (
	kindHeader   = "capture"
	kindExchange = "exchange"
)

// Header describes the origin of the exchanges after it.
type Header struct {
	Schema string `json:"schema"`
	// Date is when the capture began, Version the program's that made it.
	Date    time.Time `json:"date"`
	Version string    `json:"version,omitempty"`
	// Upstream is the host that answered, with the port if it has one of its own.
	Upstream string `json:"upstream"`
	// Frames means that exchanges have the boundaries and gaps of their answers.
	Frames bool `json:"frames,omitempty"`
	// Unredacted means that secrets were not replaced, on request.
	Unredacted bool `json:"unredacted,omitempty"`
}

// Exchange is one request and its answer, or the reason why there is no answer.
type Exchange struct {
	// N counts the requests of a file from 1, in the order in which they came.
	N  int       `json:"n"`
	At time.Time `json:"at"`
	// Protocol is that of wire.Codec, such as "openai-chat".
	Protocol string `json:"protocol"`
	// Path is the path of the request below the API's root, with the parts of its query
	// that are not secret: "/messages?beta=true".
	Path string `json:"path"`
	// Header has the request's header fields that change its meaning, such as
	// Anthropic-Version; never a key.
	Header map[string]string `json:"header,omitempty"`
	// Request is the body, which is JSON. It is missing where Lost is given.
	Request json.RawMessage `json:"request,omitempty"`
	// Lost is the reason why there is no whole answer; the fields below are empty then.
	Lost string `json:"lost,omitempty"`

	Status      int    `json:"status,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	// RetryAfter is the wait in that header field of an error; 0 if none.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// First is the time from the request to the first byte of the answer's body, Total
	// to the last.
	First time.Duration `json:"first_ns,omitempty"`
	Total time.Duration `json:"total_ns,omitempty"`
	// Body is the answer's body, decoded.
	Body text `json:"body,omitempty"`
	// Frames cut Body where it was handed over; empty unless asked for. Together they
	// are as long as Body.
	Frames []Frame `json:"frames,omitempty"`
	// Redacted counts the secrets that were replaced in request and body, by kind.
	Redacted map[string]int `json:"redacted,omitempty"`
}

// Frame is a piece of a body that was handed over at once.
type Frame struct {
	// Gap is the time since the frame before, or since the request.
	Gap time.Duration `json:"gap_ns"`
	// Bytes is its length; 0 where all of it was part of a secret whose mark is shorter.
	Bytes int `json:"bytes"`
}

// check returns an error for an exchange that is not valid.
func (x *Exchange) check() error {
	switch {
	case x.N < 1:
		return fmt.Errorf("the number of an exchange is %d; they count from 1", x.N)
	case x.Protocol == "":
		return fmt.Errorf("exchange %d names no protocol", x.N)
	case x.Lost != "":
		return nil
	case x.Status < 100 || x.Status > 999:
		return fmt.Errorf("exchange %d has the status %d, which is not one of HTTP", x.N, x.Status)
	case min(x.First, x.Total, x.RetryAfter) < 0:
		return fmt.Errorf("exchange %d has a negative duration", x.N)
	case len(x.Frames) == 0:
		return nil
	}
	rest := len(x.Body)
	for i, f := range x.Frames {
		if f.Gap < 0 || f.Bytes < 0 || f.Bytes > rest {
			return fmt.Errorf("exchange %d: frame %d has %d bytes after %s, and %d are left", x.N, i, f.Bytes, f.Gap, rest)
		}
		rest -= f.Bytes
	}
	if rest > 0 {
		return fmt.Errorf("exchange %d: its frames are %d bytes short of its body", x.N, rest)
	}
	return nil
}

// text is a string in JSON, or an object with the key base64 if it is not UTF-8.
type text []byte

type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (b text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(b) {
		return json.Marshal(string(b))
	}
	return json.Marshal(encoded{b})
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var e encoded
		err := json.Unmarshal(data, &e)
		*b = e.Base64
		return err
	}
	var s string
	err := json.Unmarshal(data, &s)
	*b = text(s)
	return err
}
