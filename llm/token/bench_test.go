package token_test

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/rehearse-dev/rehearse/llm/token"
)

var prompt = strings.Repeat("The quick brown fox jumps over the lazy dog. ", 455) // 20 KB

// BenchmarkCountAgain is a prompt of 20 KB that was counted before.
func BenchmarkCountAgain(b *testing.B) {
	c := token.NewCounter(token.Options{})
	c.Count("gpt-4.1-mini", prompt)
	again := strings.Clone(prompt) // as it comes from the wire: equal, elsewhere
	b.ReportAllocs()
	for b.Loop() {
		c.Count("gpt-4.1-mini", again)
	}
}

// BenchmarkCountAgainFloor is the look-up of the same text in a map.
func BenchmarkCountAgainFloor(b *testing.B) {
	m := map[string]int{strings.Clone(prompt): 1}
	for b.Loop() {
		if m[prompt] != 1 {
			b.Fatal("not found")
		}
	}
}

// BenchmarkCountFirst is a prompt of 20 KB that was never seen.
func BenchmarkCountFirst(b *testing.B) {
	c := token.NewCounter(token.Options{Memory: 1}) // remembers nothing
	for b.Loop() {
		c.Count("gpt-4.1-mini", prompt)
	}
}

// BenchmarkCountFirstFloor is the library alone.
func BenchmarkCountFirstFloor(b *testing.B) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := codec.Count(prompt); err != nil {
			b.Fatal(err)
		}
	}
}
