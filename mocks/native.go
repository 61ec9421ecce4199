package mocks

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// native answers requests of protocols whose paths are not below /v1; nil for other requests.
func (e *Engine) native(ctx context.Context, r *http.Request, path string) *Exchange {
	want := nativeMethod(path)
	if want == "" {
		return nil
	}
	codec := codecOf(path, r.Header, &e.responses)
	if r.Method != want {
		return e.stray(ctx, codec, r, wrongMethod(r.Method, path, want))
	}
	if strings.HasPrefix(path, "/api/") {
		return e.ollama(ctx, r, path)
	}
	body, err := readBody(r)
	if err != nil {
		return e.unreadable(ctx, codec, r, path, err)
	}
	defer releaseBody(body)
	return e.Begin(ctx, codec, r.Header, body.Bytes())
}

// ollamaEndpoints are the endpoints of Ollama below /api.
var ollamaEndpoints = []string{"chat", "generate", "embed", "embeddings", "show", "tags", "ps", "version"}

// nativeMethod returns the method of a native endpoint; "" if it is unknown.
func nativeMethod(path string) string {
	switch path {
	case "/api/tags", "/api/ps", "/api/version":
		return http.MethodGet
	}
	if endpoint, ok := strings.CutPrefix(path, "/api/"); ok && slices.Contains(ollamaEndpoints, endpoint) {
		return http.MethodPost
	}
	if !strings.HasPrefix(path, "/model/") {
		return ""
	}
	if _, ok := wire.ForPath(http.MethodPost, path); ok {
		return http.MethodPost
	}
	return ""
}

// ollama answers a request to an endpoint of Ollama.
func (e *Engine) ollama(ctx context.Context, r *http.Request, path string) *Exchange {
	codec, now := wire.Ollama{Generate: path == "/api/generate"}, e.opts.Clock.Now()
	switch path {
	case "/api/tags", "/api/ps":
		return e.side(ctx, codec.EncodeModels(e.program.script.Model, now))
	case "/api/version":
		return e.side(ctx, codec.EncodeVersion())
	}
	body, err := readBody(r)
	if err != nil {
		return e.unreadable(ctx, codec, r, path, err)
	}
	defer releaseBody(body)
	switch path {
	case "/api/show":
		return e.beside(ctx, r, path, codec.Show(body.Bytes(), now))
	case "/api/embed", "/api/embeddings":
		return e.beside(ctx, r, path, codec.Embed(body.Bytes(), e.opts.Count))
	}
	if frames, ok := codec.Preload(body.Bytes(), now); ok {
		return e.beside(ctx, r, path, frames)
	}
	return e.Begin(ctx, codec, r.Header, body.Bytes())
}
