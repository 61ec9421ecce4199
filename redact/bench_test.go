package redact_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/redact"
)

var prose = strings.Repeat("The quick brown fox jumps over the lazy dog; see section 4.2 (draft-7) of the Book.\n", 244)

// BenchmarkRedact20KB redacts a prompt of 20 KB without secrets.
func BenchmarkRedact20KB(b *testing.B) {
	r := redact.New([]string{"a-first-secret-value", "another secret value", "0123456789abcdef"})
	b.SetBytes(int64(len(prose)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(prose)
	}
}

// BenchmarkRedactNested20KB redacts the same text as the argument of a tool, JSON within JSON.
func BenchmarkRedactNested20KB(b *testing.B) {
	r := redact.New([]string{"a-first-secret-value", "another secret value", "0123456789abcdef"})
	text := nested["json"](nested["json"](prose))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Text(text)
	}
}

// BenchmarkNew measures the cost per exchange of a capture.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		redact.New([]string{"a-first-secret-value", "another secret value", "0123456789abcdef"})
	}
}

// BenchmarkRedact20KBFloor scans the same text once for an absent byte.
func BenchmarkRedact20KBFloor(b *testing.B) {
	b.SetBytes(int64(len(prose)))
	for b.Loop() {
		if strings.IndexByte(prose, 0) >= 0 {
			b.Fatal("found")
		}
	}
}
