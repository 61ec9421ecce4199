package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// Storage has the files and batches that the clients of one trial have stored, of OpenAI's API and of Anthropic's
// message batches. Beyond 64 MB it drops the oldest files. It is safe for concurrent use; the zero value is ready
// to use.
type Storage struct {
	// Keep is the maximum number of files and of batches, set before the first use; 0 means no limit.
	Keep int

	mu      sync.Mutex
	files   []*storedFile // oldest first
	batches []*batch      // oldest first
	size    int           // of all files, in bytes
	ids     int           // given so far
}

// StorageRequest is a request to a Storage.
type StorageRequest struct {
	Method, Endpoint string // such as GET and "/files/file-1"
	Query            url.Values
	Body             []byte
	Now              time.Time
	// Root is the address of the API with /v1.
	Root string
	// Rules are those of the script.
	Rules Rules
	// Answer answers a request of a batch: a POST to an endpoint, such as "/v1/chat/completions". An error means that
	// the connection failed.
	Answer func(endpoint string, body []byte) (status int, answer []byte, err error)
}

// storageCall is a request to one resource.
type storageCall struct {
	*Storage
	StorageRequest
	id string
	// broken is the name of the rule that the request breaks.
	broken *string
}

// rule returns the error of a broken rule, or nil if the script has turned the rule off.
func (c storageCall) rule(name string, err *APIError) *APIError {
	if err == nil || !c.Rules.applies(name) {
		return nil
	}
	*c.broken = name
	return err
}

// storageEndpoints has the endpoints with their methods; * is an id.
var storageEndpoints = []struct {
	method, path string
	answer       func(storageCall) []Frame
}{
	{http.MethodPost, "/files", storageCall.upload},
	{http.MethodGet, "/files", storageCall.listFiles},
	{http.MethodGet, "/files/*", storageCall.getFile},
	{http.MethodDelete, "/files/*", storageCall.deleteFile},
	{http.MethodGet, "/files/*/content", storageCall.fileContent},
	{http.MethodPost, "/batches", storageCall.createBatch},
	{http.MethodGet, "/batches", storageCall.listBatches},
	{http.MethodGet, "/batches/*", storageCall.getBatch},
	{http.MethodPost, "/batches/*/cancel", storageCall.cancelBatch},
	{http.MethodPost, messageBatches, storageCall.createMessageBatch},
	{http.MethodGet, messageBatches, storageCall.listMessageBatches},
	{http.MethodGet, messageBatches + "/*", storageCall.getMessageBatch},
	{http.MethodDelete, messageBatches + "/*", storageCall.deleteMessageBatch},
	{http.MethodPost, messageBatches + "/*/cancel", storageCall.cancelMessageBatch},
	{http.MethodGet, messageBatches + "/*/results", storageCall.messageResults},
}

// matchEndpoint reports whether an endpoint has the form of a path, and returns its id.
func matchEndpoint(path, endpoint string) (id string, ok bool) {
	before, after, starred := strings.Cut(path, "*")
	if !starred {
		return "", endpoint == path
	}
	rest, ok := strings.CutPrefix(endpoint, before)
	if !ok {
		return "", false
	}
	id, ok = strings.CutSuffix(rest, after)
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// StorageMethods returns the methods of an endpoint of a Storage; none for other endpoints.
func StorageMethods(endpoint string) []string {
	if storedProtocol(endpoint) == "" {
		return nil
	}
	var methods []string
	for _, e := range storageEndpoints {
		if _, ok := matchEndpoint(e.path, endpoint); ok {
			methods = append(methods, e.method)
		}
	}
	return methods
}

// Respond answers a request with one of the StorageMethods of its endpoint, and returns the name of the rule that the
// request breaks, if it is refused because of one.
func (s *Storage) Respond(r StorageRequest) (frames []Frame, rule string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range storageEndpoints {
		if id, ok := matchEndpoint(e.path, r.Endpoint); ok && e.method == r.Method {
			frames = e.answer(storageCall{s, r, id, &rule})
			return frames, rule
		}
	}
	return OpenAIChat{}.EncodeError(statusError(http.StatusNotFound)), ""
}

// newID returns the next id with a prefix. Ids are numbered, so that they are the same in every run.
func (s *Storage) newID(prefix string) string {
	s.ids++
	return prefix + "rehearse" + strconv.Itoa(s.ids)
}

// jsonValue answers with a value in JSON.
func jsonValue(v any) []Frame {
	body, err := jsonv2.Marshal(v)
	if err != nil { // a text that is not UTF-8
		return OpenAIChat{}.EncodeError(decodeError(err))
	}
	return jsonFrames("", body)
}

// page is a page of a list.
type page[T any] struct {
	Object  string  `json:"object,omitempty"` // of OpenAI's lists
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// Limits of pages.
const (
	defaultPage = 20
	maxPage     = 10_000
)

// pageOf returns the page of all that the query asks for: limit, and after or after_id.
func pageOf[T any](all []T, query url.Values, id func(T) string, object string) (page[T], *APIError) {
	limit := defaultPage
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return page[T]{}, bad("limit", "invalid_value", "Invalid 'limit': expected an integer from 1 to %d, but got '%.20s'.", maxPage, text)
		}
		limit = n
	}
	if after := query.Get("after") + query.Get("after_id"); after != "" {
		i := slices.IndexFunc(all, func(t T) bool { return id(t) == after })
		if i < 0 {
			return page[T]{}, bad("after", "invalid_value", "Invalid 'after': there is no object with the id '%.64s'.", after)
		}
		all = all[i+1:]
	}
	p := page[T]{Object: object, Data: all[:min(limit, len(all))], HasMore: len(all) > limit}
	if n := len(p.Data); n > 0 {
		first, last := id(p.Data[0]), id(p.Data[n-1])
		p.FirstID, p.LastID = &first, &last
	}
	if p.Data == nil {
		p.Data = []T{}
	}
	return p, nil
}
