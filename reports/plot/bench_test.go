package plot_test

import (
	"bytes"
	"encoding/xml"
	"testing"

	"github.com/rehearse-dev/rehearse/reports/plot"
)

// BenchmarkTimeline draws the timeline of a trial with 24 calls: a page has one for
// each of thousands of trials.
func BenchmarkTimeline(b *testing.B) {
	calls := spans()
	b.SetBytes(int64(len(plot.Timeline("t", calls).SVG)))
	for b.Loop() {
		plot.Timeline("t", calls)
	}
}

// BenchmarkFloorTimeline escapes as many bytes, and does nothing else.
func BenchmarkFloorTimeline(b *testing.B) {
	svg := plot.Timeline("t", spans()).SVG
	b.SetBytes(int64(len(svg)))
	var out bytes.Buffer
	for b.Loop() {
		out.Reset()
		if err := xml.EscapeText(&out, svg); err != nil {
			b.Fatal(err)
		}
	}
}
