package textfold_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

var page = strings.Repeat("Tu avances quand le défi est net ; l'équipe le sent, et le client aussi. You stay calm, and people notice.\n", 100)

// BenchmarkFloorFields measures what the standard library takes to find words.
func BenchmarkFloorFields(b *testing.B) {
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		strings.Fields(page)
	}
}

func BenchmarkReader(b *testing.B) {
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		r := textfold.NewReader(page)
		for _, ok := r.Next(); ok; _, ok = r.Next() {
		}
	}
}

func BenchmarkCount(b *testing.B) {
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		textfold.Count(page)
	}
}
