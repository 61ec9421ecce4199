package capture

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// exchange is an open request, and its answer so far.
type exchange struct {
	codec wire.Reader
	out   tape.Exchange
	keys  []string // the client's credentials
	now   func() time.Time
	gone  func() error // not nil when the client has left

	asked  []byte // the request's body, up to the limit
	unread error  // why the body is incomplete

	response *http.Response
	failed   error // why there is no response
	body     bytes.Buffer
	reads    []read
	ended    error // of the last read of the body
}

// read is a piece of an answer's body.
type read struct {
	at time.Time
	to int // offset of its end in the body
}

type exchangeKey struct{}

func (p *Proxy) begin(r *http.Request, codec wire.Reader) *exchange {
	x := &exchange{codec: codec, now: p.opts.Clock.Now, keys: keysOf(r.Header)}
	x.out = tape.Exchange{
		N: int(p.last.Add(1)), At: x.now(), Protocol: codec.Protocol(), Path: pathOf(r), Header: headerOf(r.Header),
	}
	return x
}

// pathOf returns the path below the API's root, with the only query that the protocols define. Other
// queries may contain keys.
func pathOf(r *http.Request) string {
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	if beta := r.URL.Query().Get("beta"); beta == "true" {
		path += "?beta=true"
	}
	return path
}

// headerOf returns the fields that change the meaning of a request.
func headerOf(h http.Header) map[string]string {
	fields := map[string]string{}
	for _, name := range []string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta"} {
		if v := h.Get(name); v != "" {
			fields[name] = v
		}
	}
	return fields
}

// keysOf returns the client's credentials.
func keysOf(h http.Header) []string {
	var keys []string
	for _, name := range []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "Cookie"} {
		for _, v := range h.Values(name) {
			if _, token, ok := strings.Cut(v, " "); ok && name != "Cookie" {
				v = token
			}
			keys = append(keys, v)
		}
	}
	return append(keys, quotedTwice(keys)...)
}

// quotedTwice returns the values that change in JSON, in the form for JSON within a JSON string, such
// as the arguments of a tool call.
func quotedTwice(values []string) []string {
	var quoted []string
	for _, v := range values {
		text, err := json.Marshal(v)
		if inside := strings.Trim(string(text), `"`); err == nil && inside != v {
			quoted = append(quoted, inside)
		}
	}
	return quoted
}

// request returns the client's request with the exchange in its context.
func (x *exchange) request(r *http.Request) *http.Request {
	x.gone = func() error { return context.Cause(r.Context()) }
	return r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x))
}

// sent returns the request's body, or why it cannot be stored.
func (x *exchange) sent() (body []byte, lost string) {
	switch {
	case x.unread != nil:
		return nil, fmt.Sprintf("the request is incomplete: %v", x.unread)
	case len(x.asked) > maxBody:
		return nil, fmt.Sprintf("the request is longer than %d MB", maxBody>>20)
	case !json.Valid(x.asked):
		return nil, "the request is not JSON"
	}
	return x.asked, ""
}

// tap records an answer while it is forwarded.
func tap(r *http.Response) error {
	if x, ok := r.Request.Context().Value(exchangeKey{}).(*exchange); ok {
		x.response = r
		r.Body = &tapped{r.Body, x}
	}
	return nil
}

// tapped is an answer's body. It belongs to the goroutine that serves the request.
type tapped struct {
	io.ReadCloser
	x *exchange
}

// Read implements io.Reader.
func (t *tapped) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	x := t.x
	if n > 0 && x.body.Len() <= maxBody {
		x.body.Write(p[:n])
		x.reads = append(x.reads, read{x.now(), x.body.Len()})
	}
	if err != nil {
		x.ended = err
	}
	return n, err
}

// exchange returns the record of a finished exchange.
func (p *Proxy) exchange(x *exchange) tape.Exchange {
	out := x.out
	find := p.finder(x.keys)
	request, lost := x.sent()
	if x.response == nil && x.unread == nil {
		lost = x.missing()
	}
	if lost == "" {
		clean := redactBody(request, false, nil, find)
		out.Request, out.Redacted = clean.body, clean.kinds
		lost = x.answer(&out, find, p.opts.Frames)
	}
	out.Path = redactText(out.Path, find)
	for name, v := range out.Header {
		out.Header[name] = redactText(v, find)
	}
	if lost != "" {
		lost = redactText(lost, find)
		out = tape.Exchange{N: out.N, At: out.At, Protocol: out.Protocol, Path: out.Path, Lost: lost}
	}
	return out
}

// redactText redacts a text that is not JSON.
func redactText(text string, find finder) string {
	r := redaction{body: []byte(text), find: find, kinds: map[string]int{}}
	r.whole(leaf{to: len(text)})
	return string(r.apply(nil).body)
}

// answer sets the response, or returns why it is not an answer.
func (x *exchange) answer(out *tape.Exchange, find finder, frames bool) (lost string) {
	out.Status, out.ContentType = x.response.StatusCode, x.response.Header.Get("Content-Type")
	body, err := x.decoded()
	if err != nil {
		return err.Error()
	}
	stream := streamed(out.ContentType)
	if lost = x.judge(out.Status, stream, body); lost != "" {
		return lost
	}
	raw := bytes.Equal(body, x.body.Bytes())
	clean := redactBody(body, stream, x.offsets(raw), find)
	if out.Status < http.StatusBadRequest && leaks(x.codec, stream, clean.body, find) {
		return "the answer contains a secret that cannot be removed"
	}
	out.Body, out.Redacted = clean.body, add(out.Redacted, clean.kinds)
	if seconds, err := strconv.Atoi(x.response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		out.RetryAfter = time.Duration(seconds) * time.Second
	}
	if n := len(x.reads); n > 0 {
		out.First, out.Total = x.reads[0].at.Sub(x.out.At), x.reads[n-1].at.Sub(x.out.At)
	}
	if frames {
		out.Frames = x.frames(clean.cuts)
	}
	return ""
}

// streamed reports whether a content type is that of server-sent events.
func streamed(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "text/event-stream"
}

// missing returns the reason for a missing response.
func (x *exchange) missing() string {
	if x.gone() != nil {
		return "the client left before the answer"
	}
	return fmt.Sprintf("the upstream did not answer: %v", x.failed)
}

// decoded returns the body without its encoding.
func (x *exchange) decoded() ([]byte, error) {
	if x.body.Len() > maxBody {
		return nil, fmt.Errorf("the answer is longer than %d MB", maxBody>>20)
	}
	switch encoding := strings.ToLower(x.response.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
		return x.body.Bytes(), nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(x.body.Bytes()))
		if err != nil {
			return nil, fmt.Errorf("the answer is not valid gzip: %w", err)
		}
		body, err := io.ReadAll(io.LimitReader(z, maxBody+1))
		if err == nil && len(body) > maxBody {
			err = fmt.Errorf("it is longer than %d MB", maxBody>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("decompress the answer: %w", err)
		}
		return body, nil
	default:
		return nil, fmt.Errorf("unsupported Content-Encoding %.40q", encoding)
	}
}

// judge returns why an answer is not complete. A provider's error can be complete.
func (x *exchange) judge(status int, stream bool, body []byte) (lost string) {
	switch {
	case status >= http.StatusBadRequest:
		return x.cut()
	case status != http.StatusOK:
		return fmt.Sprintf("unexpected status %d", status)
	}
	_, err := x.codec.ReadAnswer(stream, body)
	if err == nil {
		return "" // even if the stream was cut after the end marker
	}
	if why := x.cut(); why != "" {
		return why
	}
	if e, ok := errors.AsType[*wire.APIError](err); ok {
		return fmt.Sprintf("the provider ended the answer with an error: %s", e.Message)
	}
	return err.Error()
}

// cut returns who ended an answer early.
func (x *exchange) cut() string {
	switch {
	case errors.Is(x.ended, io.EOF):
		return ""
	case x.gone() != nil || x.ended == nil: // not read to its end
		return "the client left before it had the whole answer"
	default:
		return fmt.Sprintf("the upstream cut the answer off: %v", x.ended)
	}
}

// leaks reports whether the redacted answer, as a client reads it, contains a secret. That happens
// only if clients join other parts than redactBody.
func leaks(codec wire.Reader, stream bool, body []byte, find finder) bool {
	c, err := codec.ReadAnswer(stream, body)
	if err != nil {
		return true // the original was valid
	}
	texts := []string{c.Text, c.Refusal, c.Thinking}
	for _, t := range c.ToolCalls {
		texts = append(texts, t.ID, t.Name, t.Arguments)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return len(find(text)) > 0 })
}

// offsets returns the ends of the reads of a body without an encoding.
func (x *exchange) offsets(raw bool) []int {
	if !raw {
		return nil
	}
	cuts := make([]int, len(x.reads))
	for i, r := range x.reads {
		cuts[i] = r.to
	}
	return cuts
}

// frames returns the reads as frames with these ends, which are those after redaction.
func (x *exchange) frames(cuts []int) []tape.Frame {
	frames := make([]tape.Frame, len(cuts))
	before, from := x.out.At, 0
	for i, to := range cuts {
		frames[i] = tape.Frame{Gap: x.reads[i].at.Sub(before), Bytes: to - from}
		before, from = x.reads[i].at, to
	}
	return frames
}

func add(a, b map[string]int) map[string]int {
	for kind, n := range b {
		a[kind] += n
	}
	return a
}
