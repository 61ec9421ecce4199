package mocks

import (
	"net/http"
	"sync"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// The limits of Decoded, in bytes of requests.
const (
	maxDecodedBody = 256 << 10
	maxDecoded     = 4 << 20
)

// Decoded remembers valid requests of the chat protocol for engines of one program whose clients send the same ones
// again and again, such as those of an exploration. It is safe for concurrent use; the zero value is ready to use.
type Decoded struct {
	mu    sync.Mutex
	calls map[chatRequest]wire.Call
	size  int
}

// chatRequest is a request and how it is read.
type chatRequest struct {
	codec wire.OpenAIChat
	// contentType, key and authorization are the fields of the header that rules look at.
	contentType, key, authorization string
	body                            string
}

// decode decodes a request and checks it by the program's rules. The parts of the call are shared and must not be
// changed.
func (e *Engine) decode(codec wire.Codec, header http.Header, body []byte) (wire.Call, *wire.APIError) {
	chat, ok := codec.(wire.OpenAIChat)
	d := e.opts.Decoded
	if d == nil || !ok || len(body) > maxDecodedBody {
		return e.decodeNew(codec, header, body)
	}
	kind, key, authorization := header.Get("Content-Type"), header.Get("Api-Key"), header.Get("Authorization")
	d.mu.Lock()
	call, known := d.calls[chatRequest{chat, kind, key, authorization, string(body)}] // does not copy the body
	d.mu.Unlock()
	if known {
		return call, nil
	}
	call, failed := e.decodeNew(codec, header, body)
	if failed != nil {
		return call, failed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil || d.size+len(body) > maxDecoded {
		d.calls, d.size = map[chatRequest]wire.Call{}, 0
	}
	d.calls[chatRequest{chat, kind, key, authorization, string(body)}] = call
	d.size += len(body)
	return call, nil
}

func (e *Engine) decodeNew(codec wire.Codec, header http.Header, body []byte) (wire.Call, *wire.APIError) {
	call, failed := codec.Decode(body)
	if failed == nil {
		failed = e.program.rules.Check(codec, &call, header, body)
	}
	return call, failed
}
