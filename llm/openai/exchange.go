package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

const (
	// maxAnswer limits an answer in bytes, streamed or not.
	maxAnswer = 64 << 20
	// maxError limits an error answer in bytes.
	maxError = 64 << 10
	// emptyLines limits consecutive lines without data. Some servers send a comment every second
	// while a model thinks, and go-openai's limit of 300 would end such a call after minutes.
	emptyLines = 1 << 16
)

var errTooLarge = fmt.Errorf("answer is larger than %d MiB", maxAnswer>>20)

// exchange is one attempt: one HTTP request and its answer. It is an HTTPDoer between go-openai and the
// transport, because go-openai hides the headers of errors and reads bodies without a limit.
type exchange struct {
	backend *Backend
	// final rules out another attempt: the server asked for none, or text was delivered.
	final bool
	// status is 0 before the answer.
	status int
	// request is nil before it is sent.
	request *http.Request
	// raw is the answer's body unless it is streamed, for messages.
	raw  []byte
	body *meter
}

// run makes the attempt. An expired AttemptTimeout becomes llm.Timeout.
func (x *exchange) run(ctx context.Context, req goopenai.ChatCompletionRequest, onText func(string)) (llm.Reply, *llm.Error) {
	if d := x.backend.cfg.AttemptTimeout; d > 0 {
		var cancel context.CancelFunc
		ctx, cancel = x.backend.cfg.Clock.WithTimeout(ctx, d)
		defer cancel()
	}
	cfg := x.backend.client
	cfg.HTTPClient = x
	client := goopenai.NewClientWithConfig(cfg)
	ask := x.whole
	if req.Stream {
		ask = x.stream
	}
	reply, failed := ask(ctx, client, req, onText)
	if failed != nil && clock.Err(ctx) != nil {
		failed.Kind = llm.Timeout
		failed.Message = fmt.Sprintf("no answer within the attempt's timeout of %s", x.backend.cfg.AttemptTimeout)
	}
	return reply, failed
}

// whole asks for an answer in one piece.
func (x *exchange) whole(
	ctx context.Context, client *goopenai.Client, req goopenai.ChatCompletionRequest, onText func(string),
) (llm.Reply, *llm.Error) {
	res, err := x.create(ctx, client, req)
	if err != nil {
		return llm.Reply{}, x.explain(err)
	}
	reply, failed := x.read(res)
	if failed == nil && onText != nil && reply.Text != "" {
		onText(reply.Text)
	}
	return reply, failed
}

// explain returns a typed error for an error of go-openai: an error of Do, a request that it could not
// build, or an answer that it could not decode.
func (x *exchange) explain(err error) *llm.Error {
	if failed, ok := errors.AsType[*llm.Error](err); ok {
		return failed
	}
	if x.request == nil {
		return x.fail(llm.InvalidRequest, "the request cannot be sent: "+err.Error(), err)
	}
	return x.malformed("the answer cannot be read: "+err.Error(), x.raw)
}

// Do sends the request. It returns only a successful answer of the right type, complete unless it is
// streamed. Every error is an *llm.Error.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.request = req
	res, err := x.backend.cfg.Transport.RoundTrip(req)
	if err != nil {
		return nil, x.broken(err)
	}
	x.status = res.StatusCode
	x.body = &meter{ReadCloser: res.Body}
	res.Body = x.body
	streamed := req.Header.Get("Accept") == "text/event-stream"
	switch {
	case res.StatusCode >= 300:
		err = x.refused(res)
	case !rightType(res.Header, streamed):
		begin, _ := io.ReadAll(io.LimitReader(res.Body, maxError))
		err = x.malformed(fmt.Sprintf("the answer's Content-Type is %q", sanitize.Line(res.Header.Get("Content-Type"), 100)), begin)
	case streamed:
		return res, nil
	default:
		err = x.readAll(res)
	}
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(x.raw))
	return res, nil
}

// rightType accepts a missing Content-Type.
func rightType(h http.Header, streamed bool) bool {
	got, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	got = strings.ToLower(strings.TrimSpace(got))
	switch {
	case got == "":
		return true
	case streamed:
		return got == "text/event-stream"
	}
	return got == "application/json" || strings.HasSuffix(got, "+json")
}

// readAll reads the body into raw. JSON must be UTF-8 (RFC 8259, 8.1), and the decoder would silently
// replace other bytes by U+FFFD.
func (x *exchange) readAll(res *http.Response) error {
	var buf bytes.Buffer
	buf.Grow(int(min(max(res.ContentLength, 0), maxError)) + bytes.MinRead)
	_, err := buf.ReadFrom(res.Body)
	x.raw = buf.Bytes()
	if err != nil {
		return x.broken(err)
	}
	if !utf8.Valid(x.raw) {
		return x.malformed("the answer is not UTF-8", x.raw)
	}
	return nil
}

// broken returns a typed error for a failed read or write: truncated after the first byte of the answer,
// unavailable before it.
func (x *exchange) broken(err error) *llm.Error {
	if errors.Is(err, errTooLarge) {
		return x.fail(llm.Malformed, err.Error(), err)
	}
	kind := llm.Unavailable
	message := fmt.Sprintf("no answer from %s: %v; is the server up, and is OPENAI_BASE_URL right?", x.backend.cfg.BaseURL, err)
	var slow net.Error
	switch {
	case errors.Is(err, clock.ErrStalled):
		x.final = true // the next attempt would wait for ever too
		kind = llm.Timeout
	case errors.As(err, &slow) && slow.Timeout():
		kind = llm.Timeout
	case x.body != nil && x.body.n > 0:
		kind, message = llm.Truncated, fmt.Sprintf("the answer was cut off after %d bytes: %v", x.body.n, err)
	}
	return x.fail(kind, message, err)
}

// malformed quotes the beginning of the answer.
func (x *exchange) malformed(what string, body []byte) *llm.Error {
	if len(body) == 0 {
		return x.fail(llm.Malformed, what+"; the body is empty", nil)
	}
	return x.fail(llm.Malformed, what+"; it begins "+x.quote(body), nil)
}

// quote returns the beginning of a body, safe to show. It removes the key before truncating, which could
// otherwise leave half of the key.
func (x *exchange) quote(body []byte) string {
	return strconv.Quote(sanitize.Line(x.backend.redact(string(body[:min(len(body), maxError)])), 200))
}

func (x *exchange) fail(kind llm.ErrorKind, message string, err error) *llm.Error {
	return &llm.Error{
		Kind: kind, Backend: x.backend.cfg.ID, Status: x.status,
		Message: sanitize.Line(x.backend.redact(message), 500), Err: err,
	}
}

// meter limits and counts the bytes read of a body, and remembers why reading
// failed: go-openai reports a cut stream like one that ended.
type meter struct {
	io.ReadCloser
	n     int64
	reads int
	err   error // other than io.EOF
}

func (m *meter) Read(p []byte) (int, error) {
	m.reads++
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.ReadCloser.Read(p)
	if m.n += int64(n); m.n > maxAnswer {
		err = errTooLarge
	}
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}

// tokens clamps a reported count to a range that can be added up, because a hostile server may report any
// number.
func tokens(n int) int { return min(max(n, 0), math.MaxInt32) }
