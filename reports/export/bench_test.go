package export_test

import (
	"encoding/json"
	"io"
	"testing"
)

// BenchmarkEval writes the archive of four trials.
func BenchmarkEval(b *testing.B) {
	r := small()
	b.SetBytes(size(b, r))
	for b.Loop() {
		if err := r.log().Eval(io.Discard, r.head, r.samples); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	r := small()
	b.SetBytes(size(b, r))
	for b.Loop() {
		if err := r.log().JSON(io.Discard, r.head, r.samples); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloorJSON encodes the trials once, as they are recorded.
func BenchmarkFloorJSON(b *testing.B) {
	r := small()
	b.SetBytes(size(b, r))
	for b.Loop() {
		for _, t := range r.trials {
			if err := json.NewEncoder(io.Discard).Encode(t.trial); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// size is that of the trials as they are recorded, without hashes.
func size(b *testing.B, r run) int64 {
	b.Helper()
	total := 0
	for _, t := range r.trials {
		data, err := json.Marshal(t.trial)
		if err != nil {
			b.Fatal(err)
		}
		total += len(data)
	}
	return int64(total)
}
