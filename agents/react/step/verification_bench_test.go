package step_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// BenchmarkJudge reads and judges a verification of the longest that is allowed, against
// a context of long observations; the floor reads the words of the same texts.
func BenchmarkJudgeVerification(b *testing.B) {
	var items []string
	for i := range 1500 {
		items = append(items, "lib/module"+strings.Repeat("x", i%30)+".go shows 3 of 10 issues")
	}
	text := "verification:\n  completeness: ✓ code, severity_limit\n  consistency: {check: [" + strings.Join(items, ", ")[:30_000] + "]}\n" +
		"  correctness: ✓\n  constraints: {check: [" + strings.Join(items, ", ")[:30_000] + "]}\n"
	c := requirements
	c.Context = append([]string{"lib/module.go"}, strings.Repeat("src/app.js:1: const a = 1\n", 4_000))
	for b.Loop() {
		found, err := step.ReadVerification(text)
		if err != nil {
			b.Fatal(err)
		}
		step.JudgeVerification(found, c)
	}
	b.SetBytes(int64(len(text)))
}

func BenchmarkFloorWords(b *testing.B) {
	text := strings.Repeat("lib/modulexxxxxxxx.go shows 3 of 10 issues, ", 1400)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		textfold.Fold(text)
	}
}
