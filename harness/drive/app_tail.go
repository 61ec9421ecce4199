package drive

import (
	"sync"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// maxTail limits the retained end of an agent's log, in bytes.
const maxTail = 8 << 10

// tail is a writer that retains the end of the text. It is safe for concurrent use.
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

// text returns the retained text, in whole lines.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Lines()
}
