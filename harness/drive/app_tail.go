package drive

import (
	"sync"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// maxTail limits the kept bytes of what an agent writes beside its answers.
const maxTail = 8 << 10

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu sync.Mutex
	child.Tail
}

// Write implements io.Writer; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Tail.Write(p)
}

// text returns the kept text, in whole lines.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Lines()
}
