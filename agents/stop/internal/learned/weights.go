// Package learned stores the weights of the stop guard: a linear model for each class over
// the features of a message.
package learned

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Classes is the number of classes; a row of weights has one of each, in the order
// defers, asks, suggests, clean.
const Classes = 4

// Row has the weight of a feature for each class, in log-odds for each unit of the feature.
type Row [Classes]float64

// Thresholds are the probabilities from which a message is refused, all in (0, 1].
type Thresholds struct {
	Balanced float64 `json:"balanced"`
	Strict   float64 `json:"strict"`
	Careful  float64 `json:"careful"`
}

// Weights is a fitted model.
type Weights struct {
	// Date is the day on which the weights were fitted, as 2006-01-02.
	Date string `json:"date"`
	// Data is the SHA-256 of the messages, Guide that of the labelling guide; empty if it
	// was not given. Items is the number of messages.
	Data  string `json:"data"`
	Guide string `json:"guide,omitempty"`
	Items int    `json:"items"`
	// Thresholds of the policies.
	Thresholds Thresholds `json:"thresholds"`
	// Bias has the log-odds of a message without any feature.
	Bias Row `json:"bias"`
	// Named are the weights of the features with a name.
	Named map[string]Row `json:"named"`
	// keys are the hashes of the features without a name, ascending; rows[i] belongs to keys[i].
	keys []uint32
	rows [][Classes]int16
	unit float64 // the weight of 1 in rows
}

// The header of a file.
type header struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	*Weights
	Hashed int     `json:"hashed"` // features in the table
	Unit   float64 `json:"unit"`
}

// The format and its version. Weights of another version were fitted to other features.
const (
	format  = "rehearse stop guard weights"
	Version = 1
)

// Limits of a file.
const (
	maxFile   = 16 << 20
	maxHashed = 1 << 20
	maxWeight = 100 // of any feature, in log-odds
)

// rowBytes is the size of a row of the table with its key.
const rowBytes = 4 + 2*Classes

// ErrFormat is returned for a file that is not a table of weights of this version, or that
// was truncated or edited.
var ErrFormat = errors.New("not usable weights")

// SetHashed sets the weights of the features without a name. They are rounded to steps of
// 1/32767 of the largest.
func (w *Weights) SetHashed(rows map[uint32]Row) {
	largest := 0.0
	w.keys = w.keys[:0]
	for key, row := range rows {
		w.keys = append(w.keys, key)
		for _, x := range row {
			largest = max(largest, math.Abs(x))
		}
	}
	slices.Sort(w.keys)
	w.unit = max(largest, 1e-9) / math.MaxInt16
	w.rows = make([][Classes]int16, len(w.keys))
	for i, key := range w.keys {
		for c, x := range rows[key] {
			w.rows[i][c] = int16(math.Round(x / w.unit))
		}
	}
}

// Hashed returns the weights of a feature without a name; false if it has none.
func (w *Weights) Hashed(key uint32) (Row, bool) {
	i, found := slices.BinarySearch(w.keys, key)
	if !found {
		return Row{}, false
	}
	var row Row
	for c, n := range w.rows[i] {
		row[c] = float64(n) * w.unit
	}
	return row, true
}

// Keys returns the hashes of the features without a name, ascending. It must not be changed.
func (w *Weights) Keys() []uint32 { return w.keys }

// MarshalBinary implements encoding.BinaryMarshaler: a line of JSON, the table, and the SHA-256
// of both.
func (w *Weights) MarshalBinary() ([]byte, error) {
	line, err := json.Marshal(header{Format: format, Version: Version, Weights: w, Hashed: len(w.keys), Unit: w.unit})
	if err != nil {
		return nil, err
	}
	content := slices.Concat(line, []byte("\n"), w.table())
	sum := sha256.Sum256(content)
	return append(content, sum[:]...), nil
}

// table returns the keys and rows as bytes, little-endian.
func (w *Weights) table() []byte {
	b := make([]byte, 0, rowBytes*len(w.keys))
	for i, key := range w.keys {
		b = binary.LittleEndian.AppendUint32(b, key)
		for _, n := range w.rows[i] {
			b = binary.LittleEndian.AppendUint16(b, uint16(n))
		}
	}
	return b
}

// Read reads weights. The error is or wraps ErrFormat if the content is not usable.
func Read(r io.Reader) (*Weights, error) {
	all, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	line, rest, found := bytes.Cut(all, []byte("\n"))
	if !found || len(all) > maxFile {
		return nil, fmt.Errorf("%w: the first line is not a header of weights", ErrFormat)
	}
	return decode(line, rest)
}

// decode decodes the first line, and the table and checksum that follow.
func decode(line, rest []byte) (*Weights, error) {
	h := header{Weights: &Weights{}}
	if err := json.Unmarshal(line, &h); err != nil || h.Format != format {
		return nil, fmt.Errorf("%w: the first line is not a header of weights", ErrFormat)
	}
	if h.Version != Version {
		return nil, fmt.Errorf("%w: they have version %d, this program reads version %d; fit them again", ErrFormat, h.Version, Version)
	}
	if h.Hashed < 0 || h.Hashed > maxHashed || len(rest) != h.Hashed*rowBytes+sha256.Size {
		return nil, fmt.Errorf("%w: %d bytes follow the header instead of %d; the file is truncated or damaged", ErrFormat,
			len(rest), h.Hashed*rowBytes+sha256.Size)
	}
	table, checksum := rest[:h.Hashed*rowBytes], rest[h.Hashed*rowBytes:]
	if sum := sha256.Sum256(slices.Concat(line, []byte("\n"), table)); !bytes.Equal(sum[:], checksum) {
		return nil, fmt.Errorf("%w: the checksum does not match; the file was edited or damaged", ErrFormat)
	}
	w := h.Weights
	w.unit = h.Unit
	w.keys, w.rows = make([]uint32, h.Hashed), make([][Classes]int16, h.Hashed)
	for i := range w.keys {
		b := table[i*rowBytes:]
		w.keys[i] = binary.LittleEndian.Uint32(b)
		for c := range w.rows[i] {
			w.rows[i][c] = int16(binary.LittleEndian.Uint16(b[4+2*c:]))
		}
	}
	if err := w.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return w, nil
}

// validate returns an error if a weight or threshold is out of range. The comparisons are
// written so that NaN fails.
func (w *Weights) validate() error {
	for _, t := range []float64{w.Thresholds.Balanced, w.Thresholds.Strict, w.Thresholds.Careful} {
		if !(t > 0 && t <= 1) {
			return fmt.Errorf("a threshold is %g, which is not in (0, 1]", t)
		}
	}
	if !(w.unit > 0 && w.unit*math.MaxInt16 <= maxWeight) {
		return fmt.Errorf("the unit of the table is %g", w.unit)
	}
	if !slices.IsSorted(w.keys) {
		return errors.New("the table is not sorted")
	}
	for name, row := range w.Named {
		for _, x := range row {
			if !(math.Abs(x) <= maxWeight) {
				return fmt.Errorf("the weight of %q is %g", name, x)
			}
		}
	}
	for _, x := range w.Bias {
		if !(math.Abs(x) <= maxWeight) {
			return fmt.Errorf("the bias is %g", x)
		}
	}
	return nil
}
