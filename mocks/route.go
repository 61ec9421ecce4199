package mocks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// maxBody limits requests, in bytes.
const maxBody = 32 << 20

// respond plans the answer to any request. path, such as "/v1/models", does not contain the base of
// the trial.
func (e *Engine) respond(ctx context.Context, r *http.Request, path string) *Exchange {
	if path == "/" && (r.Method == http.MethodHead || r.Method == http.MethodGet) {
		return e.side(ctx, []wire.Frame{{Status: http.StatusOK}}) // a health check
	}
	codec := codecOf(path, r.Header, &e.responses)
	endpoint, ok := strings.CutPrefix(path, "/v1")
	want := ""
	if ok {
		want = methodOf(endpoint)
	}
	switch {
	case want == "":
		return e.stray(ctx, codec, r, notFound(r.Method, path))
	case r.Method != want:
		return e.stray(ctx, codec, r, &wire.APIError{
			Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Code: "method_not_supported",
			Message: fmt.Sprintf("Not allowed to %s on %s; use %s.", shortMethod(r.Method), shorten(path), want),
		})
	case want == http.MethodGet:
		return e.side(ctx, e.models(r.Header, endpoint))
	}
	body, err := readBody(r)
	if err != nil {
		return e.side(ctx, codec.EncodeError(bodyError(err)))
	}
	defer releaseBody(body)
	switch endpoint {
	case "/embeddings":
		return e.side(ctx, wire.OpenAIChat{}.Embed(body.Bytes(), e.opts.Count))
	case "/messages/count_tokens":
		return e.side(ctx, e.countMessages(body.Bytes(), r.Header))
	case "/responses/input_tokens":
		return e.side(ctx, e.countResponses(body.Bytes()))
	}
	return e.Begin(ctx, codec, r.Header, body.Bytes())
}

// codecOf returns the codec of an endpoint; for an unknown one that of the client.
func codecOf(path string, header http.Header, store *wire.ResponseStore) wire.Codec {
	codec, ok := wire.ForPath(http.MethodPost, path)
	switch {
	case !ok && isAnthropic(header):
		codec = wire.AnthropicMessages{}
	case !ok:
		codec = wire.OpenAIChat{}
	}
	return codec.ForRequest(header, store)
}

// isAnthropic reports whether a request is from a client of Anthropic's API.
func isAnthropic(header http.Header) bool { return header.Get("Anthropic-Version") != "" }

// methodOf returns the method of an endpoint; "" if it is unknown.
func methodOf(endpoint string) string {
	switch endpoint {
	case "/chat/completions", "/responses", "/messages", "/embeddings", "/messages/count_tokens", "/responses/input_tokens":
		return http.MethodPost
	case "/models":
		return http.MethodGet
	}
	if strings.HasPrefix(endpoint, "/models/") {
		return http.MethodGet
	}
	return ""
}

// models lists the only model, or describes the requested one, in the form of the client's provider.
func (e *Engine) models(header http.Header, endpoint string) []wire.Frame {
	var lister interface {
		EncodeModels(model string, created time.Time) []wire.Frame
		EncodeModel(model string, created time.Time) []wire.Frame
	} = wire.OpenAIChat{}
	if isAnthropic(header) {
		lister = wire.AnthropicMessages{}
	}
	now := e.opts.Clock.Now()
	if name, one := strings.CutPrefix(endpoint, "/models/"); one {
		return lister.EncodeModel(name, now)
	}
	return lister.EncodeModels(e.program.script.Model, now)
}

func (e *Engine) countMessages(body []byte, header http.Header) []wire.Frame {
	codec := wire.AnthropicMessages{Beta: strings.Join(header["Anthropic-Beta"], ",")}
	call, apiErr := codec.DecodeCount(body)
	if apiErr != nil {
		return codec.EncodeError(apiErr)
	}
	return codec.EncodeTokens(e.input(&call, call.Model))
}

func (e *Engine) countResponses(body []byte) []wire.Frame {
	call, apiErr := wire.OpenAIResponses{Store: &e.responses}.Decode(body)
	if apiErr != nil {
		return wire.OpenAIResponses{}.EncodeError(apiErr)
	}
	return wire.OpenAIResponses{}.EncodeTokens(e.input(&call, call.Model))
}

// side returns an exchange without the script.
func (e *Engine) side(ctx context.Context, frames []wire.Frame) *Exchange {
	x := &Exchange{engine: e, ctx: ctx, line: -1, phase: outside}
	x.send(frames)
	return x
}

// stray refuses a request without an endpoint, and reports it: a client that ignores the error
// would otherwise pass. It does not report preflight requests of browsers and web sockets, which
// clients try on their own and do not need.
func (e *Engine) stray(ctx context.Context, codec wire.Codec, r *http.Request, apiErr *wire.APIError) *Exchange {
	if r.Method != http.MethodOptions && r.Header.Get("Upgrade") == "" {
		e.mu.Lock()
		e.journal.stray(apiErr.Message)
		e.mu.Unlock()
	}
	return e.side(ctx, codec.EncodeError(apiErr))
}

func notFound(method, path string) *wire.APIError {
	hint := "There are POST /v1/chat/completions, /v1/responses, /v1/messages, " +
		"/v1/messages/count_tokens, /v1/embeddings and GET /v1/models."
	switch rest, doubled := strings.CutPrefix(path, "/v1/v1/"); {
	case methodOf(path) == method:
		hint = "The base URL lacks /v1: add it to the end."
	case doubled && methodOf("/"+rest) == method:
		hint = "The base URL ends in /v1, and the client adds it once more: remove it."
	}
	return &wire.APIError{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unknown_url",
		Message: fmt.Sprintf("Unknown request URL: %s %s. %s", shortMethod(method), shorten(path), hint),
	}
}

// shortMethod truncates a client's method for a message.
func shortMethod(method string) string { return fmt.Sprintf("%.20s", method) }

// splitTrial splits "/t/<trial>" off a path. A path without it belongs to the trial "".
func splitTrial(u *url.URL) (trial, rest string) {
	after, ok := strings.CutPrefix(u.Path, "/t/")
	if !ok {
		return "", u.Path
	}
	trial, rest, _ = strings.Cut(after, "/")
	return trial, "/" + rest
}

func bodyError(err error) *wire.APIError {
	e := &wire.APIError{
		Status: http.StatusBadRequest, Type: "invalid_request_error",
		Message: "The request's body cannot be read: " + err.Error(),
	}
	if errors.Is(err, errTooLarge) {
		e.Status, e.Code = http.StatusRequestEntityTooLarge, "request_too_large"
	}
	return e
}

var errTooLarge = fmt.Errorf("it is larger than %d MB", maxBody>>20)
