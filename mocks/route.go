package mocks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
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
	x := e.route(ctx, r, path)
	if !x.stray {
		e.served.Add(1)
	}
	return x
}

// route plans the answer to a request by its path.
func (e *Engine) route(ctx context.Context, r *http.Request, path string) *Exchange {
	if x := e.gemini(ctx, r, path); x != nil {
		return x
	}
	if x := e.native(ctx, r, path); x != nil {
		return x
	}
	if x := e.stored(ctx, r, path); x != nil {
		return x
	}
	codec := codecOf(path, r.Header, &e.responses)
	root, endpoint := wire.SplitRoot(path)
	want := methodOf(endpoint)
	switch {
	case want == "":
		return e.stray(ctx, codec, r, notFound(r.Method, path))
	case r.Method != want:
		return e.stray(ctx, codec, r, wrongMethod(r.Method, path, want))
	}
	if root.Path == "" {
		e.warnRootless(r, path)
	}
	if want == http.MethodGet {
		return e.models(ctx, r, path, listerOf(r.Header), endpoint)
	}
	body, err := readBody(r)
	if err != nil {
		return e.unreadable(ctx, codec, r, path, err)
	}
	defer releaseBody(body)
	switch endpoint {
	case "/embeddings", "/moderations":
		chat := wire.OpenAIChat{Root: root}
		if x := e.deny(ctx, r, path, chat, ""); x != nil {
			return x
		}
		if endpoint == "/moderations" {
			return e.beside(ctx, r, path, e.moderate(body.Bytes()))
		}
		if err := e.program.rules.CheckBeside(chat, body.Bytes()); err != nil {
			return e.reject(ctx, r, path, chat, err)
		}
		return e.beside(ctx, r, path, chat.Embed(body.Bytes(), e.opts.Count))
	case "/messages/count_tokens":
		return e.count(ctx, r, path, wire.AnthropicMessages{Beta: strings.Join(r.Header["Anthropic-Beta"], ",")}, body.Bytes())
	case "/responses/input_tokens":
		return e.count(ctx, r, path, wire.OpenAIResponses{Store: &e.responses}, body.Bytes())
	}
	return e.Begin(ctx, codec, r.Header, body.Bytes())
}

// codecOf returns the codec of an endpoint; for an unknown one that of the client.
func codecOf(path string, header http.Header, store *wire.ResponseStore) wire.Codec {
	codec, ok := wire.ForPath(http.MethodPost, path)
	switch {
	case !ok && strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/api/v1/"):
		codec = wire.Ollama{}
	case !ok && strings.HasPrefix(path, "/model/"):
		codec = wire.Converse{}
	case !ok && isAnthropic(header):
		codec = wire.AnthropicMessages{}
	case !ok && isGemini(header):
		codec = wire.Gemini{}
	case !ok:
		codec = wire.OpenAIChat{}
	}
	return wire.ForRequest(codec, header, store)
}

// isAnthropic reports whether a request is from a client of Anthropic's API: by its version, or by its kind of key if it
// leaves the version out.
func isAnthropic(header http.Header) bool {
	return header.Get("Anthropic-Version") != "" || header.Get("X-Api-Key") != "" && header.Get("Authorization") == ""
}

// postEndpoints are the endpoints below /v1 for POST, except those of files and batches.
var postEndpoints = []string{
	"/chat/completions", "/responses", "/messages", "/embeddings", "/moderations", "/messages/count_tokens", "/responses/input_tokens",
	"/images/generations", "/images/edits", "/audio/speech", "/audio/transcriptions", "/audio/translations",
}

// methodOf returns the method of an endpoint; "" if it is unknown.
func methodOf(endpoint string) string {
	switch {
	case slices.Contains(postEndpoints, endpoint):
		return http.MethodPost
	case endpoint == "/models", strings.HasPrefix(endpoint, "/models/"):
		return http.MethodGet
	}
	return ""
}

// listerOf returns the protocol of the client's provider.
func listerOf(header http.Header) modelLister {
	switch {
	case isAnthropic(header):
		return wire.AnthropicMessages{}
	case isGemini(header):
		return wire.Gemini{}
	}
	return wire.OpenAIChat{}
}

// models lists the only model, or describes the requested one if resource, such as "models/NAME", has a name.
func (e *Engine) models(ctx context.Context, r *http.Request, path string, codec modelLister, resource string) *Exchange {
	_, name, _ := strings.Cut(resource, "models/")
	if x := e.deny(ctx, r, path, codec, name); x != nil {
		return x
	}
	if name != "" {
		return e.side(ctx, codec.EncodeModel(name, e.opts.Clock.Now()))
	}
	return e.side(ctx, codec.EncodeModels(e.program.script.Model, e.opts.Clock.Now()))
}

// modelLister is a protocol with a list of models.
type modelLister interface {
	wire.Codec
	EncodeModels(model string, created time.Time) []wire.Frame
	EncodeModel(model string, created time.Time) []wire.Frame
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
		e.journal.stray(unexpected, apiErr.Message)
		e.mu.Unlock()
	}
	x := e.side(ctx, codec.EncodeError(apiErr))
	x.stray = true
	return x
}

func wrongMethod(method, path, want string) *wire.APIError {
	return &wire.APIError{
		Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Code: "method_not_supported",
		Message: fmt.Sprintf("Not allowed to %s on %s; use %s.", shortMethod(method), shorten(path), want),
	}
}

// warnRootless reports a request whose path lacks the /v1 of the provider, which would answer it with
// 404.
func (e *Engine) warnRootless(r *http.Request, path string) {
	base := "http://" + cmp.Or(r.Host, r.URL.Host) + strings.TrimSuffix(r.URL.Path, path) + "/v1"
	e.mu.Lock()
	defer e.mu.Unlock()
	e.journal.stray(warned, fmt.Sprintf("%s %s was answered, but the client's base URL lacks /v1, without which most providers "+
		"answer 404: set it to %.200s", r.Method, shorten(path), base))
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
