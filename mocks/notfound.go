package mocks

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// endpointList names the endpoints in messages.
const endpointList = "There are POST /v1/chat/completions, /v1/responses, /v1/messages, " +
	"/v1/messages/count_tokens, /v1/embeddings, /v1/moderations, /v1/images, /v1/audio, /v1/files, /v1/batches, " +
	"GET /v1/models, /v1beta/models/NAME:generateContent, Ollama's /api/chat, /api/generate, /api/embed and /api/tags, " +
	"and Bedrock's /model/NAME/converse."

// notFound returns the error for an unknown endpoint, with a hint at the mistake in the client's base URL or in the path.
func notFound(method, path string) *wire.APIError {
	hint := endpointList
	rest, doubled := strings.CutPrefix(path, "/v1/v1/")
	switch nearest := nearestPath(path); {
	case strings.HasPrefix(path, "/models/") && isGeminiPath("v1beta", path[1:]):
		hint = "The client's base URL lacks the version: append /v1beta."
	case ofGemini(path):
		hint = "Google's clients add /v1beta to the base URL: remove the version from its end."
	case nativeMethod(strings.TrimPrefix(path, "/v1")) == method:
		hint = "The base URL ends in /v1, which this protocol does not use: remove it."
	case doubled && methodOf("/"+rest) == method:
		hint = "The base URL ends in /v1, and the client adds it once more: remove it."
	case nearest != "":
		hint = "Did you mean " + nearest + "?"
	}
	return &wire.APIError{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "unknown_url",
		Message: fmt.Sprintf("Unknown request URL: %s %s. %s", shortMethod(method), shorten(path), hint),
	}
}

// nearestPath returns the path with at most two typing errors from path; "" if there is none.
func nearestPath(path string) string {
	const ollama = "/api"
	root, endpoint := wire.SplitRoot(path)
	base, known := cmp.Or(root.Path, "/v1"), append(slices.Clone(postEndpoints), "/models", "/files", "/batches", "/messages/batches")
	if below, native := strings.CutPrefix(path, ollama+"/"); native && root.Path == "" {
		base, endpoint, known = ollama, below, ollamaEndpoints
	}
	const most = 2
	nearest := suggest.Nearest(endpoint, known)
	if nearest == "" || suggest.Distance([]byte(endpoint), []byte(nearest), most) > most {
		return ""
	}
	return base + "/" + strings.TrimPrefix(nearest, "/")
}

// ofGemini reports whether a path ends as one of the Gemini API.
func ofGemini(path string) bool {
	_, method := wire.GeminiMethod(path)
	return method != "" || strings.Contains(path+"/", "/v1beta/models/")
}
