package kind

import (
	"fmt"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

// maxChecked is the number of results that are remembered, and maxCheckedText the length of a text in bytes up to which
// its result is.
const (
	maxChecked     = 2000
	maxCheckedText = 64 << 10
)

// checked remembers the results of this process: an exploration validates the same scripted replies thousands of times.
var checked memory

// memory remembers results by text and requirements. It is safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	results map[string]validate.Result
}

func (m *memory) check(text string, want validate.Expected) validate.Result {
	if len(text) > maxCheckedText {
		return validate.Check(text, want)
	}
	key := fmt.Sprintf("%#v %s", want, text) // with all fields
	m.mu.Lock()
	result, ok := m.results[key]
	m.mu.Unlock()
	if ok {
		return result
	}
	result = validate.Check(text, want)
	m.mu.Lock()
	if m.results == nil || len(m.results) >= maxChecked {
		m.results = map[string]validate.Result{}
	}
	m.results[key] = result
	m.mu.Unlock()
	return result
}
