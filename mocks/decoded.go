package mocks

import (
	"sync"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// The limits of Decoded, in bytes of requests.
const (
	maxDecodedBody = 256 << 10
	maxDecoded     = 8 << 20
)

// Decoded remembers decoded requests of the chat protocol for engines whose clients send the same ones again and
// again, such as those of an exploration. It is safe for concurrent use; the zero value is ready to use.
type Decoded struct {
	mu    sync.Mutex
	calls map[chatRequest]wire.Call
	size  int
}

// chatRequest is a request and how it is read.
type chatRequest struct {
	codec wire.OpenAIChat
	body  string
}

// decode is codec.Decode. The parts of the call are shared and must not be changed.
func (d *Decoded) decode(codec wire.Codec, body []byte) (wire.Call, *wire.APIError) {
	chat, ok := codec.(wire.OpenAIChat)
	if d == nil || !ok || len(body) > maxDecodedBody {
		return codec.Decode(body)
	}
	d.mu.Lock()
	call, known := d.calls[chatRequest{chat, string(body)}] // does not copy the body
	d.mu.Unlock()
	if known {
		return call, nil
	}
	call, failed := codec.Decode(body)
	if failed != nil {
		return call, failed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil || d.size+len(body) > maxDecoded {
		d.calls, d.size = map[chatRequest]wire.Call{}, 0
	}
	d.calls[chatRequest{chat, string(body)}] = call
	d.size += len(body)
	return call, nil
}
