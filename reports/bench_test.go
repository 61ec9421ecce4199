package reports_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/rehearse-dev/rehearse/reports"
)

// The floor is encoding/json without indentation of the same value: nothing that
// writes the whole report can be much faster.
func BenchmarkFloorJSON1000(b *testing.B) {
	r := many(1000)
	for b.Loop() {
		if err := json.NewEncoder(io.Discard).Encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, render renderer) {
	r := many(1000)
	for b.Loop() {
		if err := render(io.Discard, r, reports.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON1000(b *testing.B)     { benchmark(b, reports.JSON) }
func BenchmarkJUnit1000(b *testing.B)    { benchmark(b, reports.JUnit) }
func BenchmarkMarkdown1000(b *testing.B) { benchmark(b, reports.Markdown) }
func BenchmarkTerminal1000(b *testing.B) { benchmark(b, reports.Terminal) }
