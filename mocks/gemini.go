package mocks

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// isGemini reports whether a request is from a client of Google's API.
func isGemini(header http.Header) bool { return header.Get("X-Goog-Api-Key") != "" }

// withGoogleKey returns a request whose header has the key of its query, which means the same to Google.
func withGoogleKey(r *http.Request) *http.Request {
	key := r.URL.Query().Get("key")
	if key == "" || isGemini(r.Header) {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Set("X-Goog-Api-Key", key)
	return r
}

// geminiModelPaths are the paths of a model below the version: of the Gemini API, and of Vertex AI without and with a
// project, see https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference.
var geminiModelPaths = []string{
	"models/*", "tunedModels/*", "publishers/google/models/*", "projects/*/locations/*/publishers/google/models/*",
}

// isGeminiPath reports whether a method of a model has this path, and not one with another version in addition.
func isGeminiPath(version, below string) bool {
	return slices.Contains([]string{"v1beta", "v1", "v1beta1"}, version) &&
		slices.ContainsFunc(geminiModelPaths, func(pattern string) bool {
			ok, _ := path.Match(pattern, below)
			return ok
		})
}

// gemini plans the answer to a request of the Gemini API; nil if the path is another protocol's. Its
// paths are below /v1beta, for Vertex AI below /v1beta1, or below /v1, where only a method of a model shows that they
// are not OpenAI's.
func (e *Engine) gemini(ctx context.Context, r *http.Request, path string) *Exchange {
	version, below, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	model, method := wire.GeminiMethod(path)
	want := http.MethodPost
	switch {
	case method == "" && version == "v1beta" && (below == "models" || strings.HasPrefix(below, "models/")):
		want = http.MethodGet
	case method == "", version == "v1" && r.Method != want: // such as OpenAI's GET /v1/models/ft:gpt-4.1:org
		return nil
	case !isGeminiPath(version, below):
		return e.stray(ctx, wire.Gemini{}, r, notFound(r.Method, path))
	}
	r = withGoogleKey(r)
	switch {
	case r.Method != want:
		return e.stray(ctx, wire.Gemini{}, r, &wire.APIError{
			Status:  http.StatusMethodNotAllowed,
			Message: fmt.Sprintf("Not allowed to %s on %s; use %s.", shortMethod(r.Method), shorten(path), want),
		})
	case want == http.MethodGet:
		return e.models(ctx, r, path, wire.Gemini{}, below)
	}
	codec, ok := wire.ForPath(r.Method, path+"?"+r.URL.RawQuery)
	if !ok {
		codec = wire.Gemini{Model: model}
	}
	body, err := readBody(r)
	if err != nil {
		return e.unreadable(ctx, codec, r, path, err)
	}
	defer releaseBody(body)
	switch {
	case ok:
		return e.Begin(ctx, codec, r.Header, body.Bytes())
	case method == wire.GeminiCount:
		return e.count(ctx, r, path, wire.Gemini{Model: model}, body.Bytes())
	case method == wire.GeminiEmbed, method == wire.GeminiEmbedBatch:
		if x := e.deny(ctx, r, path, codec, ""); x != nil {
			return x
		}
		return e.beside(ctx, r, path, wire.Gemini{Model: model}.Embed(body.Bytes(), method == wire.GeminiEmbedBatch))
	}
	return e.stray(ctx, codec, r, &wire.APIError{
		Status: http.StatusNotFound,
		Message: fmt.Sprintf("models/%s has no method %s in this scripted server. There are generateContent, streamGenerateContent, "+
			"countTokens, embedContent and batchEmbedContents.", shorten(model), shorten(method)),
	})
}
