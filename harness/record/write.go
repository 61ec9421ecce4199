package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
)

// Writer writes a recording. Every line is stored as
//
//	{"hash":"<32 hex digits>","seq":<line number>,"type":...}
//
// where hash is the first 16 bytes of
//
//	SHA-256(hash of the previous line, as its 32 hex digits || {"type":...})
//
// and the hash before the first line is 32 zeros. The hash covers the bytes of the
// line without its hash and seq members; seq follows from the position in the chain
// and lets Verify distinguish a removed line from a changed one.
//
// Each call passes its lines to the underlying writer in one Write, so a killed process
// leaves whole trials and at most one torn line. A power failure can still lose data that the
// operating system has not stored yet.
//
// A Writer is not safe for concurrent use. After an error every method returns
// that error.
type Writer struct {
	out   io.Writer
	chain chain
	seq   int
	buf   []byte
	err   error
}

// NewWriter begins a recording on w. An empty run.Schema is filled in.
func NewWriter(w io.Writer, run Run) (*Writer, error) {
	if run.Schema == "" {
		run.Schema = Schema
	}
	rec := &Writer{out: w, chain: newChain()}
	return rec, rec.one(kindRun, run)
}

// Scenario writes the scenario to which the following trials belong.
func (w *Writer) Scenario(s Scenario) error { return w.one(kindScenario, s) }

// Trial writes what Encode returned for a trial.
func (w *Writer) Trial(encoded []byte) error { return w.lines(encoded) }

// Last returns the number of lines so far, and the hash of the last one.
func (w *Writer) Last() (lines int, hash string) { return w.seq, string(w.chain.prev[:]) }

// Close writes the last line. It does not close the underlying writer.
func (w *Writer) Close(c Close) error {
	if err := w.one(kindClose, c); err != nil {
		return err
	}
	w.err = errors.New("the recording is closed")
	return nil
}

func (w *Writer) one(kind string, v any) error {
	var e encoder
	if e.line(kind, v); e.err != nil {
		return fmt.Errorf("encoding the recording: %w", e.err)
	}
	return w.lines(e.out)
}

// maxKeptBuffer limits the buffer that a Writer reuses after a large trial.
const maxKeptBuffer = 1 << 20

func (w *Writer) lines(text []byte) error {
	if w.err != nil {
		return w.err
	}
	w.buf = w.buf[:0]
	for len(text) > 0 {
		line, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok || !bytes.HasPrefix(line, []byte(bodyStart)) {
			w.err = errors.New("writing the recording: the text is not one that Encode returned")
			return w.err
		}
		w.seq++
		w.buf = append(w.buf, hashStart...)
		w.buf = append(w.buf, w.chain.next(line)...)
		w.buf = append(w.buf, seqStart...)
		w.buf = strconv.AppendInt(w.buf, int64(w.seq), 10)
		w.buf = append(w.buf, ',')
		w.buf = append(w.buf, line[1:]...)
		w.buf = append(w.buf, '\n')
		text = rest
	}
	if _, err := w.out.Write(w.buf); err != nil {
		w.err = fmt.Errorf("writing the recording: %w", err)
	}
	if cap(w.buf) > maxKeptBuffer {
		w.buf = nil
	}
	return w.err
}

// The fixed texts at the start of a stored line.
const (
	hashStart = `{"hash":"`
	seqStart  = `","seq":`
	bodyStart = `{"type":"`
)

// hashLen is the length of a line's hash: 16 bytes as hex digits.
const hashLen = 32

// genesis is the hash before the first line.
const genesis = "00000000000000000000000000000000"

// chain computes the hashes of successive lines.
type chain struct {
	sha  hash.Hash
	prev [hashLen]byte
	sum  [sha256.Size]byte
}

func newChain() chain {
	c := chain{sha: sha256.New()}
	copy(c.prev[:], genesis)
	return c
}

// next returns the hash of body after the previous line; the result is valid
// until the next call.
func (c *chain) next(body []byte) []byte {
	c.sha.Reset()
	c.sha.Write(c.prev[:])
	c.sha.Write(body)
	hex.Encode(c.prev[:], c.sha.Sum(c.sum[:0])[:hashLen/2])
	return c.prev[:]
}
