package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteTimings adds the timings of a trial to the timings file beside a
// recording, one JSON line each.
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

// ReadTimings reads a timings file. A torn last line is that of a run that was
// killed, and belongs to a trial that no recording holds; it is left out.
func ReadTimings(r io.Reader) ([]Timing, error) {
	var timings []Timing
	dec := json.NewDecoder(r)
	for {
		var t Timing
		switch err := dec.Decode(&t); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return timings, nil
		case err != nil:
			return nil, fmt.Errorf("reading line %d of the timings: %w", len(timings)+1, err)
		}
		timings = append(timings, t)
	}
}
