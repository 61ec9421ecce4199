package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteTimings appends the timings of a trial to a timings file, one JSON line each.
func WriteTimings(w io.Writer, timings []Timing) error {
	for _, t := range timings {
		data, err := json.Marshal(t)
		if err == nil {
			_, err = w.Write(append(data, '\n'))
		}
		if err != nil {
			return fmt.Errorf("writing the timings: %w", err)
		}
	}
	return nil
}

// ReadTimings reads a timings file. A torn last line comes from a killed run and belongs to a
// trial that is not recorded; it is left out.
func ReadTimings(r io.Reader) ([]Timing, error) {
	return readTimings(r, func(*Timing) bool { return true })
}

// ReadTimingsOf reads the timings of one scenario from a timings file, and keeps no others.
func ReadTimingsOf(r io.Reader, scenario string) ([]Timing, error) {
	return readTimings(r, func(t *Timing) bool { return t.Scenario == scenario })
}

func readTimings(r io.Reader, wanted func(*Timing) bool) ([]Timing, error) {
	var timings []Timing
	in := newLines(r)
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) || err == nil && in.Torn() {
			return timings, nil
		}
		var t Timing
		if err == nil {
			err = json.Unmarshal(line, &t)
		}
		if err != nil {
			return nil, fmt.Errorf("reading line %d of the timings: %w", in.Line(), err)
		}
		if wanted(&t) {
			timings = append(timings, t)
		}
	}
}
