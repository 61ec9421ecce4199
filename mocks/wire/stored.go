package wire

import (
	"net/http"
	"slices"
	"strings"
)

// Stored is the protocol of the requests about files and batches. They are not calls of a model: a Storage answers
// them, and a Completion has no part in it.
type Stored struct{ name string }

var _ Reader = Stored{}

// storedProtocols are the protocols of a Storage, by the start of their endpoints.
var storedProtocols = []struct{ prefix, name string }{
	{messageBatches, "anthropic-batches"}, {"/batches", "openai-batches"}, {"/files", "openai-files"},
}

// matchStored returns the protocol of a request to a Storage.
func matchStored(method, path string) (Reader, bool) {
	_, endpoint := SplitRoot(path)
	if !slices.Contains(StorageMethods(endpoint), method) {
		return nil, false
	}
	return Stored{storedProtocol(endpoint)}, true
}

// storedProtocol returns the protocol of an endpoint of files or batches; "" for other endpoints.
func storedProtocol(endpoint string) string {
	for _, p := range storedProtocols {
		if strings.HasPrefix(endpoint, p.prefix) {
			return p.name
		}
	}
	return ""
}

// Protocol implements Codec.
func (s Stored) Protocol() string { return s.name }

func (s Stored) anthropic() bool { return strings.HasPrefix(s.name, "anthropic") }

// Decode implements Codec. A Storage reads the request.
func (Stored) Decode([]byte) (Call, *APIError) { return Call{}, nil }

// Encode implements Codec. A Storage has the answer.
func (Stored) Encode(Call, Completion) []Frame { return jsonFrames("", []byte("{}")) }

// EncodeError implements Codec.
func (s Stored) EncodeError(e *APIError) []Frame {
	if s.anthropic() {
		return AnthropicMessages{}.EncodeError(e)
	}
	return OpenAIChat{}.EncodeError(e)
}

// Dialect implements Codec.
func (s Stored) Dialect() Dialect {
	d := Dialect{Unexpected: http.StatusBadRequest, textMarks: []string{`":"`}}
	if s.anthropic() {
		d.stockError = AnthropicMessages{}.stockError
	}
	return d
}

// ReadAnswer implements Reader. Any body is an answer: the content of a file may even be empty.
func (Stored) ReadAnswer(bool, []byte) (Completion, error) { return Completion{}, nil }

// isStorage reports whether a path is of files or batches.
func isStorage(path string) bool {
	_, endpoint := SplitRoot(path)
	return storedProtocol(endpoint) != ""
}

// StoredFaults returns the kinds of fault that the answer to a request of Stored can have, which is a document
// without a meaning of its own.
func StoredFaults() []string {
	return []string{
		"status", "timeout", "reset-before-headers", "reset-after-headers", "reset-mid-stream", "truncated-stream",
		"malformed-json", "wrong-content-type", "slow-drip", "not-utf8",
	}
}

// StorageRequests returns the requests that a Storage answers, such as "GET /v1/files/*"; * is an id.
func StorageRequests() []string {
	requests := make([]string, len(storageEndpoints))
	for i, e := range storageEndpoints {
		requests[i] = e.method + " /v1" + e.path
	}
	return requests
}

// StorageRequestOf returns the element of StorageRequests for a request to an endpoint.
func StorageRequestOf(method, endpoint string) string {
	for _, e := range storageEndpoints {
		if _, ok := matchEndpoint(e.path, endpoint); ok && e.method == method {
			return e.method + " /v1" + e.path
		}
	}
	return ""
}
