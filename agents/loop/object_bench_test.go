package loop_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/llm"
)

// BenchmarkReadObject shows that the time for hostile answers grows with their
// length: the throughput of the sizes is about the same.
func BenchmarkReadObject(b *testing.B) {
	for name, unit := range map[string]string{
		"braces": "{", "names": `{"`, "nested": `{"a":`, "objects": "{}", "broken": `{"a":1 `, "escapes": `{"\"`,
	} {
		for _, size := range []int{100_000, 1_000_000, 10_000_000} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					read(loop.JSON, llm.Reply{Text: text})
				}
			})
		}
	}
}

// BenchmarkReadObjectFloor only looks for braces.
func BenchmarkReadObjectFloor(b *testing.B) {
	text := []byte(strings.Repeat("{", 10_000_000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for rest := text; len(rest) > 0; rest = rest[1:] {
			bytes.IndexByte(rest, '{')
		}
	}
}
