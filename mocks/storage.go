package mocks

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// stored answers requests about files and batches; nil for other requests.
func (e *Engine) stored(ctx context.Context, r *http.Request, path string) *Exchange {
	root, endpoint := wire.SplitRoot(path)
	methods := wire.StorageMethods(endpoint)
	if methods == nil || root.Path == "" || isAnthropic(r.Header) && strings.HasPrefix(endpoint, "/files") {
		return nil // Anthropic's files have another form
	}
	codec, ok := wire.ForPath(r.Method, path)
	if !ok {
		return e.stray(ctx, codecOf(path, r.Header, &e.responses), r, wrongMethod(r.Method, path, strings.Join(methods, " or ")))
	}
	if x := e.deny(ctx, r, path, codec, ""); x != nil {
		return x
	}
	body, err := readBody(r)
	if err != nil {
		return e.side(ctx, codec.EncodeError(bodyError(err)))
	}
	defer releaseBody(body)
	x := &Exchange{engine: e, ctx: ctx, line: -1, phase: outside}
	e.planStored(x, codec, wire.StorageRequestOf(r.Method, endpoint), func() []wire.Frame {
		frames, rule := e.storage.Respond(wire.StorageRequest{
			Method: r.Method, Endpoint: endpoint, Query: r.URL.Query(), Body: bytes.Clone(body.Bytes()), Now: e.opts.Clock.Now(),
			Root:  "http://" + cmp.Or(r.Host, r.URL.Host) + strings.TrimSuffix(r.URL.Path, endpoint),
			Rules: e.program.rules,
			Answer: func(endpoint string, body []byte) (int, []byte, error) {
				return e.answerOfBatch(context.WithValue(context.WithoutCancel(ctx), batchKey{}, true), r, endpoint, body)
			},
		})
		if r.Method == http.MethodPost && frames[0].Status == http.StatusBadRequest && !strings.HasSuffix(endpoint, "/cancel") {
			e.reportInvalid(r, path, frames, rule)
		}
		return frames
	})
	return x
}

// errNoAnswer is the error for a request of a batch whose answer a fault has cut off.
var errNoAnswer = errors.New("the connection to the model failed")

// batchKey is the key of the context of the requests of a batch.
type batchKey struct{}

// inBatch reports whether a request is one of a batch, and not of a client that could wait.
func inBatch(ctx context.Context) bool { return ctx.Value(batchKey{}) != nil }

// answerOfBatch answers a request of a batch as if a client had made it, without its latency: with the key
// and the version of the request that retrieves the batch.
func (e *Engine) answerOfBatch(ctx context.Context, r *http.Request, endpoint string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://batch"+endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "Anthropic-Version", "Anthropic-Beta"} {
		if values := r.Header[name]; values != nil {
			request.Header[name] = values
		}
	}
	x := e.respond(ctx, request, endpoint)
	defer x.End()
	for i := range x.frames {
		f := &x.frames[i]
		if err := x.Send(i, func() error { return nil }); err != nil {
			return 0, nil, err
		}
		answer = append(answer, f.Data...)
		if status = cmp.Or(status, f.Status); f.End != wire.Continue {
			return 0, nil, errNoAnswer
		}
	}
	return status, answer, nil
}
