package console

import (
	"context"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/term"
)

// Bytes that a terminal sends for keys in raw mode.
const (
	ctrlC = 3
	ctrlD = 4
)

// Keys reads single keys from a terminal. Between Resume and Pause each key is read at once;
// otherwise the terminal works as usual: it edits lines, and Ctrl-C is a signal. The methods do nothing
// for a nil *Keys.
type Keys struct {
	in          *os.File
	keys, line  chan byte
	asking      atomic.Bool // bytes belong to an answer
	interrupted atomic.Bool

	mu    sync.Mutex
	state *term.State // to restore; nil while the terminal works as usual
}

// NewKeys returns the keys of a terminal. Its goroutine ends with the program, because a read from a
// terminal cannot be cancelled.
func NewKeys(in *os.File) *Keys {
	k := &Keys{in: in, keys: make(chan byte), line: make(chan byte)}
	go k.read()
	return k
}

func (k *Keys) read() {
	defer close(k.keys)
	defer close(k.line)
	buffer := make([]byte, 1)
	for {
		if n, err := k.in.Read(buffer); n == 0 || err != nil {
			return
		}
		if k.asking.Load() {
			k.line <- buffer[0]
		} else {
			k.keys <- buffer[0]
		}
	}
}

// Resume makes keys arrive at once.
func (k *Keys) Resume() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state == nil {
		k.state, _ = term.MakeRaw(int(k.in.Fd())) // without it, keys arrive with Enter
	}
}

// Pause makes the terminal work as usual.
func (k *Keys) Pause() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.state != nil {
		_ = term.Restore(int(k.in.Fd()), k.state)
		k.state = nil
	}
}

// Close is Pause.
func (k *Keys) Close() { k.Pause() }

// Interrupted reports whether Ctrl-C came as a key.
func (k *Keys) Interrupted() bool { return k != nil && k.interrupted.Load() }

// Key returns the next key. It returns q for Ctrl-C and Ctrl-D; ok is false at the end of the input or
// of the context.
func (k *Keys) Key(ctx context.Context) (key byte, ok bool) {
	select {
	case key, ok = <-k.keys:
	case <-ctx.Done():
	}
	if key == ctrlC {
		k.interrupted.Store(true)
	}
	if key == ctrlC || key == ctrlD {
		key = 'q'
	}
	return key, ok
}

// Line returns the next line, without its end. The terminal must work as usual.
func (k *Keys) Line(ctx context.Context) (line string, ok bool) {
	k.asking.Store(true)
	defer k.asking.Store(false)
	var text []byte
	for {
		select {
		case b, ok := <-k.line:
			if !ok || b == '\n' {
				return string(text), ok
			}
			text = append(text, b)
		case <-ctx.Done():
			return "", false
		}
	}
}
