package mocks

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// bodies is a pool of buffers for request bodies. A codec copies what it keeps.
var bodies bufferPool

type bufferPool struct{ pool sync.Pool }

// keepBuffer is the capacity above which a buffer is not worth keeping.
const keepBuffer = 1 << 20

func (p *bufferPool) Get() *bytes.Buffer {
	if b, ok := p.pool.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

func (p *bufferPool) Put(b *bytes.Buffer) {
	if b.Cap() <= keepBuffer {
		p.pool.Put(b)
	}
}

// readBody reads a request's body up to maxBody. The caller puts the buffer back.
func readBody(r *http.Request) (*bytes.Buffer, error) {
	b := bodies.Get()
	if r.Body == nil {
		return b, nil
	}
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	// A length that is only claimed costs no more memory than what really comes.
	if 0 < r.ContentLength && r.ContentLength <= keepBuffer {
		b.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	n, err := b.ReadFrom(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, err
	case n > maxBody:
		return nil, errTooLarge
	}
	return b, nil
}
