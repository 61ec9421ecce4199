// Package token counts tokens offline, with the vocabularies of tiktoken
// embedded in the program. They are loaded at the first count, not before: all
// that importing this package costs at start-up is 0.12 ms, in the regular
// expression library underneath.
package token

import (
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/llm"
)

// The tokens that the chat format adds to the texts: so many for each message,
// and so many that prime the answer. They are those that OpenAI's cookbook gives
// for gpt-3.5-turbo, gpt-4 and gpt-4o ("How to count tokens with tiktoken",
// https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken).
const (
	PerMessage = 3
	PerName    = 1
	Priming    = 3
)

// Options configures a Counter. The zero value is usable.
type Options struct {
	// Memory bounds the bytes of text that are remembered with their counts; 0
	// means 16 MB.
	Memory int
}

const defaultMemory = 16 << 20

// Counter counts tokens and remembers what it has counted, so that a long text
// that is sent again and again costs a look-up. It is safe for concurrent use.
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

// NewCounter returns a counter that remembers nothing yet.
func NewCounter(o Options) *Counter {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	return &Counter{memory: o.Memory, recent: map[memoKey]int{}}
}

// Result is a number of tokens.
type Result struct {
	Tokens int
	// Exact is false where the model's own tokenizer is not public, or not known
	// here; the count is then that of o200k_base, an approximation.
	Exact bool
}

// Count returns the number of tokens of a text for a model; see Exact. Bytes
// that are not UTF-8 are counted as U+FFFD.
func (c *Counter) Count(model, text string) int {
	encoding, _ := encodingOf(model)
	return c.count(encoding, text)
}

// Exact reports whether the counts for a model are those of its own tokenizer.
func Exact(model string) bool {
	_, exact := encodingOf(model)
	return exact
}

// Chat returns the number of input tokens of a conversation: those of all texts,
// names, tool calls and what the chat format adds. How providers render tool
// calls is not public, so with any of them the result is not exact.
func (c *Counter) Chat(model string, messages []llm.Message) Result {
	encoding, exact := encodingOf(model)
	r := Result{Tokens: Priming, Exact: exact}
	for i := range messages {
		m := &messages[i]
		r.Tokens += PerMessage + c.count(encoding, string(m.Role)) + c.count(encoding, m.Content)
		if m.Name != "" {
			r.Tokens += PerName + c.count(encoding, m.Name)
		}
		for _, call := range m.ToolCalls {
			r.Tokens += c.count(encoding, call.Name) + c.count(encoding, call.Arguments)
			r.Exact = false
		}
	}
	return r
}

func (c *Counter) count(encoding encoding, text string) int {
	if text == "" {
		return 0
	}
	key := memoKey{encoding, text}
	c.mu.RLock()
	n, ok := c.recent[key]
	if !ok {
		n, ok = c.older[key]
	}
	c.mu.RUnlock()
	if ok {
		return n
	}
	// Counted outside the lock: two goroutines may count the same text, which
	// costs less than making all others wait.
	n = load(encoding)(text)
	c.remember(key, n)
	return n
}

// remember keeps two generations of texts, each of at most half the memory. A
// text that is used longer than its generation is counted once more.
func (c *Counter) remember(key memoKey, n int) {
	size := len(key.text)
	if size > c.memory/2 {
		return
	}
	// A text cut out of a larger one must not keep that alive.
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
