package record_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// FuzzRead checks for any input that nothing panics, that every delivered trial can be
// written again, and that every line of an input that Verify finds intact can be parsed.
func FuzzRead(f *testing.F) {
	// Short seeds, because the engine minimizes each input that finds new code, which is slow
	// for long ones.
	var b strings.Builder
	if err := write(&b, record.Trial{
		Head:     record.TrialHead{Scenario: "loop/done", N: 1},
		Messages: []record.Message{{ID: "m1"}},
		Calls:    []record.Call{{N: 1, Messages: []string{"m1"}}},
	}); err != nil {
		f.Fatal(err)
	}
	text := b.String()
	f.Add([]byte(text))
	f.Add([]byte(text[:len(text)/2]))
	f.Add([]byte(strings.Replace(text, `"type":"end"`, `"type":"send"`, 1)))
	f.Add([]byte(strings.Replace(text, `"messages":["m1"]`, `"messages":["m9"]`, 1)))
	f.Add([]byte(strings.SplitAfter(text, "\n")[0] + "{\"hash\":\"\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got := readAll(bytes.NewReader(data))
		if got.err == nil {
			if err := write(io.Discard, got.trials...); err != nil {
				t.Errorf("a trial that was read cannot be written: %v", err)
			}
		}
		report, err := record.Verify(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("reading from memory failed: %v", err)
		}
		if len(report.Problems) == 0 && strings.Contains(strings.Join(got.problems, "\n"), "not a line of a recording") {
			t.Errorf("Verify found nothing, Read found %q", got.problems)
		}
	})
}

// FuzzDecode checks for any input that nothing panics, and that what is decoded is the same after it was
// encoded again.
func FuzzDecode(f *testing.F) {
	lines, err := record.Encode(record.Trial{
		Head:     record.TrialHead{Scenario: "loop/done", N: 1},
		Messages: []record.Message{{ID: "m1"}},
		Calls:    []record.Call{{N: 1, Messages: []string{"m1"}}},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(lines)
	f.Add(lines[:len(lines)/2])
	f.Add(bytes.Replace(lines, []byte(`"type":"end"`), []byte(`"type":"send"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		trials, err := record.Decode(data)
		if err != nil {
			return
		}
		var once []byte
		for _, trial := range trials {
			lines, err := record.Encode(trial)
			if err != nil {
				t.Fatalf("a trial that was decoded cannot be encoded: %v", err)
			}
			once = append(once, lines...)
		}
		again, err := record.Decode(once)
		if err != nil || len(again) != len(trials) {
			t.Fatalf("%d trials after encoding, want %d: %v", len(again), len(trials), err)
		}
	})
}
