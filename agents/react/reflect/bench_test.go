package reflect_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

var (
	longObservation = strings.Repeat("src/api/client.go:118: 3 tests failed in 2.4s, no match for \"retry\" (see RFC-9110).\n", 400)
	longReflection  = strings.Repeat("La ligne 118 de client.go explique trois échecs ; aucune reprise n'est prévue, je continue.\n", 100)
)

// BenchmarkFloorWords measures how long reading the words of both texts takes.
func BenchmarkFloorWords(b *testing.B) {
	b.SetBytes(int64(len(longObservation) + len(longReflection)))
	for b.Loop() {
		textfold.Fold(longObservation)
		textfold.Fold(longReflection)
	}
}

func BenchmarkJudge(b *testing.B) {
	b.SetBytes(int64(len(longObservation) + len(longReflection)))
	b.ReportAllocs()
	for b.Loop() {
		reflect.Judge(longObservation, longReflection)
	}
}

// BenchmarkJudgeShort is a reflection as agents write them.
func BenchmarkJudgeShort(b *testing.B) {
	b.SetBytes(int64(len(audit) + 46))
	b.ReportAllocs()
	for b.Loop() {
		reflect.Judge(audit, "L'analyse a identifié 3 problèmes de sécurité.")
	}
}

// BenchmarkJudgeQuotes is a reflection that never ends its quotations, but for as
// many as are searched for, on a long observation without any of them.
func BenchmarkJudgeQuotes(b *testing.B) {
	observation := strings.Repeat("go on ", 1<<20/6)
	text := strings.Repeat("«", 1<<18) + strings.Repeat(`"`+strings.Repeat("go on ", 60)+`then"`, 16)
	b.SetBytes(int64(len(observation) + len(text)))
	b.ReportAllocs()
	for b.Loop() {
		reflect.Judge(observation, text)
	}
}
