// Package tape is the file format of a capture: the requests to a backend and its answers, with the
// pieces of answers and the gaps between them. A tape is a JSON Lines file with a line for each
// finished exchange: a killed process leaves complete exchanges and at most one torn line.
//
// The first line is a Header, and another Header follows each time the capture is resumed. All other
// lines are Exchanges, without secrets.
package tape

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
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
	// Date is the start of the capture, Version the version of the program.
	Date    time.Time `json:"date"`
	Version string    `json:"version,omitempty"`
	// Upstream is the host of the backend, with its port if that is not the default.
	Upstream string `json:"upstream"`
	// Frames is true if exchanges have frames.
	Frames bool `json:"frames,omitempty"`
	// Unredacted is true if secrets were not replaced.
	Unredacted bool `json:"unredacted,omitempty"`
}

// Exchange is one request and its answer, or the reason for a missing answer.
type Exchange struct {
	// N is the number of the request, from 1, in order of arrival.
	N  int       `json:"n"`
	At time.Time `json:"at"`
	// Protocol is the name of a wire.Codec, such as "openai-chat".
	Protocol string `json:"protocol"`
	// Method of the request, unless it is POST; see Verb.
	Method string `json:"method,omitempty"`
	// Path of the request below the API's root, without secrets: "/messages?beta=true".
	Path string `json:"path"`
	// Header has the header fields that change the meaning of the request, such as
	// Anthropic-Version, but no keys.
	Header map[string]string `json:"header,omitempty"`
	// Request is the body in JSON. It is missing if Lost is set, or the request has no body.
	Request json.RawMessage `json:"request,omitempty"`
	// Form is the body of a multipart request, in place of Request.
	Form text `json:"form,omitempty"`
	// Lost is the reason for an incomplete answer; the fields below are then empty.
	Lost string `json:"lost,omitempty"`

	Status      int    `json:"status,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	// RetryAfter is the wait in the Retry-After header of an error.
	RetryAfter time.Duration `json:"retry_after_ns,omitempty"`
	// First is the time from the request to the first byte of the answer's body, Total the time
	// to the last.
	First time.Duration `json:"first_ns,omitempty"`
	Total time.Duration `json:"total_ns,omitempty"`
	// Body is the decoded body of the answer.
	Body text `json:"body,omitempty"`
	// Frames has the pieces of Body, if they were requested.
	Frames []Frame `json:"frames,omitempty"`
	// Redacted counts the replaced secrets in request and body, by kind.
	Redacted map[string]int `json:"redacted,omitempty"`
}

// Sent returns the body of the request: Request or Form.
func (x *Exchange) Sent() []byte {
	if len(x.Form) > 0 {
		return x.Form
	}
	return x.Request
}

// Verb returns the method of the request.
func (x *Exchange) Verb() string { return cmp.Or(x.Method, http.MethodPost) }

// Frame is a piece of a body.
type Frame struct {
	// Gap is the time since the previous frame, or since the request.
	Gap time.Duration `json:"gap_ns"`
	// Bytes is the length of the piece; 0 if it was redacted completely.
	Bytes int `json:"bytes"`
}

// check returns an error if the exchange is not valid.
func (x *Exchange) check() error {
	switch {
	case x.N < 1:
		return fmt.Errorf("the number of an exchange must be at least 1, got %d", x.N)
	case x.Protocol == "":
		return fmt.Errorf("exchange %d has no protocol", x.N)
	case x.Lost != "":
		return nil
	case x.Status < 100 || x.Status > 999:
		return fmt.Errorf("exchange %d has the status %d, which is not valid in HTTP", x.N, x.Status)
	case min(x.First, x.Total, x.RetryAfter) < 0:
		return fmt.Errorf("exchange %d has a negative duration", x.N)
	case len(x.Frames) == 0:
		return nil
	}
	rest := len(x.Body)
	for i, f := range x.Frames {
		if f.Gap < 0 || f.Bytes < 0 || f.Bytes > rest {
			return fmt.Errorf("exchange %d: frame %d has %d bytes after %s; %d are left", x.N, i, f.Bytes, f.Gap, rest)
		}
		rest -= f.Bytes
	}
	if rest > 0 {
		return fmt.Errorf("exchange %d: the frames are %d bytes shorter than the body", x.N, rest)
	}
	return nil
}

// text is a string in JSON or, if it is not UTF-8, an object with the key base64.
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
