package queue

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// maxResult limits the size of an unpacked result, and with it the memory that it needs.
const maxResult = 1 << 30

// result has the trials of a job.
type result struct {
	lines   []byte // those of record.Encode
	timings []record.Timing
}

// pack compresses a result: the timings are its first line. The digest is that of the trials alone,
// because timings differ whenever a trial is run again.
func (r *result) pack() (packed []byte, digest string, err error) {
	timings, err := json.Marshal(r.timings)
	if err != nil {
		return nil, "", fmt.Errorf("encode the timings: %w", err)
	}
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	for _, part := range [][]byte{timings, []byte("\n"), r.lines} {
		if _, err := w.Write(part); err != nil {
			return nil, "", fmt.Errorf("compress the result: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("compress the result: %w", err)
	}
	sum := sha256.Sum256(r.lines)
	return out.Bytes(), hex.EncodeToString(sum[:]), nil
}

// unpack returns the trials of a packed result, and their timings by trial.
func unpack(packed []byte) ([]record.Trial, [][]record.Timing, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, nil, fmt.Errorf("decompress a result: %w", err)
	}
	in := bufio.NewReader(io.LimitReader(z, maxResult+1))
	head, err := in.ReadBytes('\n')
	if err != nil {
		return nil, nil, fmt.Errorf("decompress a result: %w", err)
	}
	lines, err := io.ReadAll(in)
	if err != nil {
		return nil, nil, fmt.Errorf("decompress a result: %w", err)
	}
	if len(head)+len(lines) > maxResult {
		return nil, nil, fmt.Errorf("decompress a result: it has more than %d MB", maxResult>>20)
	}
	var timings []record.Timing
	if err := json.Unmarshal(head, &timings); err != nil {
		return nil, nil, fmt.Errorf("decode the timings of a result: %w", err)
	}
	trials, err := record.Decode(lines)
	if err != nil {
		return nil, nil, err
	}
	each := make([][]record.Timing, len(trials))
	for i := range trials {
		head := &trials[i].Head
		for _, t := range timings {
			if t.Scenario == head.Scenario && t.Trial == head.N {
				each[i] = append(each[i], t)
			}
		}
	}
	return trials, each, nil
}
