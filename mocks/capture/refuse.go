package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"sync"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// unreachable answers if the upstream does not.
func unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
		x.failed = err
	}
	refuse(w, http.StatusBadGateway, fmt.Sprintf("the capture could not reach the upstream: %v", err))
}

// declined answers a request for a feature that a scripted backend lacks and clients can do
// without, such as a message thread, as that backend does: the capture can then be
// replayed. It returns false for all other requests.
func declined(w http.ResponseWriter, r *http.Request, codec wire.Reader) bool {
	body, err := readAhead(r)
	if err != nil || !bytes.Contains(body, []byte(`"thread"`)) {
		return false
	}
	_, apiErr := codec.Decode(body)
	if apiErr == nil || !apiErr.Declined {
		return false
	}
	for _, f := range codec.EncodeError(apiErr) {
		maps.Copy(w.Header(), f.Header)
		w.WriteHeader(f.Status)
		_, _ = w.Write(f.Data) // the client has left
	}
	return true
}

// refuse answers with an error in a shape that clients of all protocols read.
func refuse(w http.ResponseWriter, status int, message string) {
	body := map[string]any{"type": "error", "error": map[string]any{
		"type": "api_error", "code": "rehearse_capture", "message": message,
	}}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has left
}

// quiet is for a proxy whose errors are reported by other means.
var quiet = log.New(io.Discard, "", 0)

// buffers is a pool of buffers through which bodies are copied.
var buffers pool

type pool struct{ pool sync.Pool }

const bufferSize = 32 << 10

// Get implements httputil.BufferPool.
func (p *pool) Get() []byte {
	if b, ok := p.pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, bufferSize)
}

// Put implements httputil.BufferPool.
func (p *pool) Put(b []byte) { p.pool.Put(&b) }
