package capture

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/mocks/tape"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// exchange is an open request, and its answer so far.
type exchange struct {
	codec wire.Reader
	out   tape.Exchange
	keys  []string // the client's credentials
	host  string   // of the proxy, as the client names it
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
	x := &exchange{codec: codec, now: p.opts.Clock.Now, keys: keysOf(r), host: r.Host}
	x.out = tape.Exchange{
		N: int(p.last.Add(1)), At: x.now(), Protocol: codec.Protocol(), Path: pathOf(r), Header: headerOf(r.Header),
	}
	if r.Method != http.MethodPost {
		x.out.Method = r.Method
	}
	return x
}

// apiVersion matches the version in the query of Azure's paths.
var apiVersion = lazyregexp.New(`^[0-9a-z-]{1,40}$`)

// pathOf returns the path below the API's root, with the queries that the protocols define. Other
// queries may contain keys.
func pathOf(r *http.Request) string {
	path := r.URL.Path
	if below, ok := strings.CutPrefix(path, "/v1/"); ok {
		path = "/" + below
	}
	query := r.URL.Query()
	switch {
	case query.Get("beta") == "true":
		path += "?beta=true"
	case query.Get("alt") == "sse":
		path += "?alt=sse"
	case apiVersion().MatchString(query.Get("api-version")):
		path += "?api-version=" + query.Get("api-version")
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

// keysOf returns the client's credentials. Google also accepts a key in the query.
func keysOf(r *http.Request) []string {
	keys := r.URL.Query()["key"]
	for _, name := range []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie"} {
		for _, v := range r.Header.Values(name) {
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
	case json.Valid(x.asked), len(x.asked) == 0 && isStored(x.codec):
		return x.asked, ""
	}
	if _, ok := wire.FormType(x.asked); ok {
		return x.asked, ""
	}
	return nil, "the request is not JSON, and not a multipart form"
}

// isStored reports whether the protocol is that of files or batches.
func isStored(codec wire.Reader) bool {
	_, stored := codec.(wire.Stored)
	return stored
}

// tap records an answer while it is forwarded.
func tap(r *http.Response) error {
	if x, ok := r.Request.Context().Value(exchangeKey{}).(*exchange); ok {
		if err := x.keepResults(r); err != nil {
			return err
		}
		x.response = r
		r.Body = &tapped{r.Body, x}
	}
	return nil
}

// resultsURL matches the address of the results of one of Anthropic's batches.
var resultsURL = lazyregexp.New(`("results_url"\s*:\s*")https?://[^/"]+/`)

// keepResults replaces the host in the address of results, to which Anthropic's clients send their next request, by
// the proxy's. No other answer is changed.
func (x *exchange) keepResults(r *http.Response) error {
	if x.codec.Protocol() != "anthropic-batches" || r.StatusCode != http.StatusOK || r.ContentLength > maxAhead ||
		!strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return fmt.Errorf("read the batch: %w", err)
	}
	_ = r.Body.Close() // read to its end
	body = resultsURL().ReplaceAll(body, []byte("${1}http://"+x.host+"/"))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
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
		if out.Redacted = clean.kinds; json.Valid(clean.body) {
			out.Request = clean.body
		} else {
			out.Form = clean.body
		}
		lost = x.answer(&out, find, p.opts.Frames)
	}
	out.Path = redactText(out.Path, find)
	for name, v := range out.Header {
		out.Header[name] = redactText(v, find)
	}
	if lost != "" {
		lost = redactText(lost, find)
		out = tape.Exchange{N: out.N, At: out.At, Protocol: out.Protocol, Method: out.Method, Path: out.Path, Lost: lost}
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
	stream := wire.Streamed(out.ContentType)
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
	if err == nil && (stream || json.Valid(body)) {
		return "" // even if the stream was cut after the end marker
	}
	if why := x.cut(); why != "" || err == nil {
		return why // bytes do not show their end
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
