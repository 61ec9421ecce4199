// Package token counts tokens offline, with the vocabularies of tiktoken embedded in the
// program. They are loaded at the first count; importing this package costs 0.12 ms at
// start-up.
package token

import (
	"strings"
	"sync"
)

// Options configures a Counter. The zero value is usable.
type Options struct {
	// Memory limits the text that is kept with its counts, in bytes; 0 means 16 MB.
	Memory int
}

const defaultMemory = 16 << 20

// Counter counts tokens and caches the counts, because agents send the same long texts
// again and again. It is safe for concurrent use.
type Counter struct {
	memory int

	mu       sync.RWMutex
	recent   map[memoKey]int
	older    map[memoKey]int
	recently int // bytes of text in recent
}

type memoKey struct {
	encoding encoding
	text     string
}

// NewCounter returns a counter with an empty cache.
func NewCounter(o Options) *Counter {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	return &Counter{memory: o.Memory, recent: map[memoKey]int{}}
}

// Count returns the number of tokens of a text for a model. For a model whose tokenizer is
// not public or not known here, it counts with o200k_base, an approximation. Bytes that are
// not UTF-8 are counted as U+FFFD.
func (c *Counter) Count(model, text string) int {
	if text == "" {
		return 0
	}
	key := memoKey{encodingOf(model), text}
	c.mu.RLock()
	n, ok := c.recent[key]
	if !ok {
		n, ok = c.older[key]
	}
	c.mu.RUnlock()
	if ok {
		return n
	}
	// Not under the lock: two goroutines may count the same text, which costs less than
	// making all others wait.
	n = counters[key.encoding]()(text)
	c.remember(key, n)
	return n
}

// Load loads the vocabulary of a model. Otherwise the first Count does, which takes longer.
func (c *Counter) Load(model string) { counters[encodingOf(model)]()("Where is it?") }

// remember caches a count. The cache has two generations of texts, each of at most half
// the memory.
func (c *Counter) remember(key memoKey, n int) {
	size := len(key.text)
	if size > c.memory/2 {
		return
	}
	// A part of a larger text must not keep all of it in memory.
	key.text = strings.Clone(key.text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recently+size > c.memory/2 {
		c.older, c.recent, c.recently = c.recent, map[memoKey]int{}, 0
	}
	if _, ok := c.recent[key]; !ok {
		c.recent[key] = n
		c.recently += size
	}
}
