package reports_test

import (
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
)

// built is a report of n scenarios with one trial each, every tenth of which failed.
func built(n int) reports.Report {
	b := &reports.Builder{Extensions: kinds.Language().Extensions()}
	for i := range n {
		var findings []gate.Finding
		if i%10 == 9 {
			findings = failing("status")
		}
		b.Add(scenario(fmt.Sprintf("loop/scenario-%05d", i), 1), facts("done", 1.25), findings)
	}
	return b.Close()
}

// The floor is encoding/json without indentation of the same value: nothing that
// writes the whole report can be much faster.
func BenchmarkFloorJSON1000(b *testing.B) {
	r := built(1000)
	for b.Loop() {
		if err := json.NewEncoder(io.Discard).Encode(r); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmark(b *testing.B, render renderer) {
	r := built(1000)
	for b.Loop() {
		if err := render(io.Discard, r, options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON1000(b *testing.B)     { benchmark(b, asJSON) }
func BenchmarkJUnit1000(b *testing.B)    { benchmark(b, asJUnit) }
func BenchmarkMarkdown1000(b *testing.B) { benchmark(b, asMarkdown) }
func BenchmarkTerminal1000(b *testing.B) { benchmark(b, asTerminal) }

func BenchmarkBuild1000(b *testing.B) {
	for b.Loop() {
		built(1000)
	}
}

func BenchmarkAddTrial(b *testing.B) {
	var builder reports.Builder
	head, f := scenario("a", 1), facts("done", 1.25)
	for b.Loop() {
		builder.Add(head, f, nil)
	}
}
