package mocks

import (
	"bytes"
	"io"
	"net/http"
	"sync"
)

// bodies is a pool of buffers for request bodies. Codecs do not retain them.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keepBuffer is the largest capacity of a buffer in the pool.
const keepBuffer = 1 << 20

func releaseBody(b *bytes.Buffer) {
	if b.Cap() <= keepBuffer {
		b.Reset()
		bodies.Put(b)
	}
}

// readBody reads a request's body up to maxBody. The caller releases it with releaseBody.
func readBody(r *http.Request) (*bytes.Buffer, error) {
	b := bodies.Get().(*bytes.Buffer)
	if r.Body == nil {
		return b, nil
	}
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	// A false Content-Length must not cost more memory than this.
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
