package drive

import (
	"sync"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// maxTail is how much is kept of what an agent writes beside its answers, in bytes.
const maxTail = 8 << 10

// tail keeps the last of what is written to it. It is safe for concurrent use.
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

// text is what was kept, in whole lines.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Lines()
}
