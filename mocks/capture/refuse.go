package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// unreachable answers a request that the upstream does not answer.
func unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if x, ok := r.Context().Value(exchangeKey{}).(*exchange); ok {
		x.failed = err
	}
	refuse(w, http.StatusBadGateway, fmt.Sprintf("the capture could not reach the upstream: %v", err))
}

// declined answers a request for an optional feature, such as a message thread, in the same way as a
// scripted backend, which does not support it. The capture can then be replayed. It returns false for
// other requests.
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

// refuse answers with an error in a form for clients of all protocols.
func refuse(w http.ResponseWriter, status int, message string) {
	body := map[string]any{"type": "error", "error": map[string]any{
		"type": "api_error", "code": "rehearse_capture", "message": message,
	}}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has left
}
