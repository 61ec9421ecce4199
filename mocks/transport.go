package mocks

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// NewTransport returns a transport that connects an http.Client to an engine in process, without
// sockets and goroutines. Latencies pass on the engine's clock while the client waits for the
// response and reads its body. The host and the trial in a URL are ignored. Connections that a fault
// cuts off return the errors of real ones.
func NewTransport(e *Engine) http.RoundTripper { return transport{e} }

type transport struct{ engine *Engine }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	ctx := r.Context()
	if err := clock.Err(ctx); err != nil {
		return nil, err
	}
	_, path := splitTrial(r.URL)
	b := &body{ctx: ctx, x: t.engine.respond(ctx, r, path)}
	if err := b.advance(); err != nil {
		b.x.End()
		return nil, err
	}
	head := &b.x.frames[0]
	if head.Status == 0 {
		err := b.cut(head.End, io.EOF)
		b.x.End()
		return nil, err
	}
	return response(r, head, b), nil
}

func response(r *http.Request, head *wire.Frame, b io.ReadCloser) *http.Response {
	length := int64(-1)
	if n, err := strconv.ParseInt(head.Header.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	return &http.Response{
		Status:     strconv.Itoa(head.Status) + " " + http.StatusText(head.Status),
		StatusCode: head.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: head.Header, ContentLength: length, Body: b, Request: r,
	}
}

// body is the body of a response. It reads the frames of an exchange.
type body struct {
	ctx  context.Context
	mu   sync.Mutex // a client may close while it reads
	x    *Exchange
	at   int    // the frame after the current one
	data []byte // the rest of the current frame
	err  error  // of all further reads
}

// Read implements io.Reader. It returns io.EOF with the last bytes, for clients that then stop
// reading.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.data) == 0 && b.err == nil {
		b.err = b.more()
	}
	if b.err == nil {
		b.err = clock.Err(b.ctx)
	}
	if b.err != nil {
		return 0, b.err
	}
	n := copy(p, b.data)
	b.take(n)
	if len(b.data) == 0 && b.complete() {
		b.err = io.EOF
	}
	return n, b.err
}

// more advances to the next frame, or returns why there is none.
func (b *body) more() error {
	current := &b.x.frames[b.at-1]
	switch {
	case current.End != wire.Continue:
		return b.cut(current.End, io.ErrUnexpectedEOF)
	case b.complete():
		return io.EOF
	}
	return b.advance()
}

// advance waits for the next frame and makes it the current one.
func (b *body) advance() error {
	i := b.at
	if err := b.x.engine.opts.Clock.Sleep(b.ctx, b.x.Delay(i)); err != nil {
		return err
	}
	if err := b.x.reach(i); err != nil {
		return err
	}
	b.at++
	b.data = b.x.frames[i].Data
	if len(b.data) == 0 {
		b.x.frameSent()
	}
	return nil
}

// take counts n bytes of the current frame as read.
func (b *body) take(n int) {
	b.data = b.data[n:]
	if n > 0 && len(b.data) == 0 {
		b.x.frameSent()
	}
}

// complete reports whether the current frame is the last of a whole answer.
func (b *body) complete() bool {
	return b.at == len(b.x.frames) && b.x.frames[b.at-1].End == wire.Continue
}

// cut returns a client's error for a connection that ends early; closed is the error for End Close.
func (b *body) cut(end wire.End, closed error) error {
	switch end {
	case wire.Reset:
		return &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	case wire.Hang:
		return b.x.engine.opts.Clock.Sleep(b.ctx, clock.Forever)
	default:
		return closed
	}
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.x.End()
	if b.err == nil {
		b.err = http.ErrBodyReadAfterClose
	}
	return nil
}
