// Package lazyregexp compiles regular expressions at their first use, because most commands use few of them.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled pattern. It panics if the pattern is invalid.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
