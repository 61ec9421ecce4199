package page_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/page"
)

// thousand writes a recording of n scenarios with ten calls each and some 2 kB of text
// in each call.
func thousand(w io.Writer, n int) error {
	rec, err := record.NewWriter(w, record.Run{Schema: record.Schema, ID: "thousand", Tool: "rehearse 1.2.3", Scenarios: n, Trials: n})
	if err != nil {
		return err
	}
	words := strings.Repeat("The order left the house at noon, and nobody has seen it since. ", 16)
	for i := range n {
		s := record.Scenario{Name: fmt.Sprintf("shop/order-%04d", i), About: "A customer asks where an order is.", Trials: 1, Agent: "loop", Backend: "openai", Tags: []string{"shop"}}
		if err := rec.Scenario(s); err != nil {
			return err
		}
		var turns [][2]string
		for j := range 10 {
			turns = append(turns, [2]string{fmt.Sprint(i, j, words), fmt.Sprint(j, i, words)})
		}
		lines, err := record.Encode(dialogue(s.Name, 1, turns...))
		if err != nil {
			return err
		}
		if err := rec.Trial(lines); err != nil {
			return err
		}
	}
	return rec.Close(record.Close{Trials: n})
}

func judgeNothing(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
	return measure.Trial(s, t, nil, kinds.Language().Extensions()), nil, nil
}

// write writes the page of a recording and returns its size.
func write(recording io.Reader, w io.Writer) (int, error) {
	spool, err := os.CreateTemp("", "page-*")
	if err != nil {
		return 0, err
	}
	defer os.Remove(filepath.Clean(spool.Name()))
	defer spool.Close()
	b := page.New(spool, page.Options{})
	report, err := reports.FromRecording(recording, kinds.Language().Extensions(), b.Judge(judgeNothing))
	if err != nil {
		return 0, err
	}
	n := &counter{w: w}
	err = b.Write(n, page.Input{Report: report.Close()})
	return n.n, err
}

type counter struct {
	w io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.w.Write(p)
}

// BenchmarkWrite1000x10 is the page of 1,000 scenarios with 10 calls each, from its
// recording; MB/s are those of the recording.
func BenchmarkWrite1000x10(b *testing.B) {
	var recording bytes.Buffer
	if err := thousand(&recording, 1000); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(recording.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := write(bytes.NewReader(recording.Bytes()), io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloorRead1000x10 reads and measures the same recording, which every report
// does.
func BenchmarkFloorRead1000x10(b *testing.B) {
	var recording bytes.Buffer
	if err := thousand(&recording, 1000); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(recording.Len()))
	b.ReportAllocs()
	for b.Loop() {
		report, err := reports.FromRecording(bytes.NewReader(recording.Bytes()), kinds.Language().Extensions(), judgeNothing)
		if err != nil {
			b.Fatal(err)
		}
		report.Close()
	}
}
