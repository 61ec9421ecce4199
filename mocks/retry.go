package mocks

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// retryCount is the header by which the SDKs of OpenAI and Anthropic count their retries
// of a request: "0" at the first attempt.
const retryCount = "X-Stainless-Retry-Count"

// retries detects requests that repeat a failed one. The zero value is ready to use; the engine's
// lock guards it.
type retries struct {
	// failed counts, by request, the failed exchanges that were not repeated yet.
	failed map[fingerprint]int
	// open has the open exchanges that were not repeated yet.
	open []*attempt
}

// fingerprint is the hash of the protocol and the body of a request.
type fingerprint [sha256.Size]byte

// attempt is an open exchange.
type attempt struct {
	request  fingerprint
	exchange *Exchange
}

// arrive marks x as a retry if its header counts retries, or if it repeats, byte for byte, a
// request that met a fault or an error status, or that the client cancelled. Only observed engines
// need this; the harness's own clients count their retries.
func (e *Engine) arrive(x *Exchange, codec wire.Codec, header http.Header, body []byte) {
	if e.opts.Observer == nil {
		return
	}
	request := sha256.Sum256(append([]byte(codec.Protocol()+"\n"), body...))
	count, err := strconv.Atoi(header.Get(retryCount))
	e.mu.Lock()
	defer e.mu.Unlock()
	repeats := e.retries.repeats(request, e.failing)
	x.record.Retry = repeats || err == nil && count > 0
	e.retries.open = append(e.retries.open, &attempt{request, x})
}

// repeats reports whether a request repeats a failed one, which it removes.
func (r *retries) repeats(request fingerprint, failing func(*Exchange) bool) bool {
	if r.failed[request] > 0 {
		r.failed[request]--
		return true
	}
	i := slices.IndexFunc(r.open, func(a *attempt) bool { return a.request == request && failing(a.exchange) })
	if i < 0 {
		return false
	}
	r.open = slices.Delete(r.open, i, i+1)
	return true
}

// failing reports whether an open exchange will fail. A quick client may repeat it before it has
// ended here.
func (e *Engine) failing(x *Exchange) bool {
	if len(x.faults) > 0 || x.ctx.Err() != nil {
		return true
	}
	if x.record.N == 0 {
		return false // not matched yet
	}
	known := &e.journal.records[x.slot] // x.record belongs to another goroutine
	return known.N == x.record.N && known.Status >= http.StatusBadRequest
}

// ended counts an exchange that failed.
func (r *retries) ended(x *Exchange) {
	i := slices.IndexFunc(r.open, func(a *attempt) bool { return a.exchange == x })
	if i < 0 {
		return // already repeated, or without an observer
	}
	if x.record.Fired || x.record.HungUp || !x.record.Delivered || x.record.Status >= http.StatusBadRequest {
		if r.failed == nil {
			r.failed = map[fingerprint]int{}
		}
		r.failed[r.open[i].request]++
	}
	r.open = slices.Delete(r.open, i, i+1)
}
