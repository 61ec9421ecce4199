// Package explored shows what an exploration of a golden path found: how many runs
// survived, which call suffers from what, and each distinct failure once, with the
// command that repeats it. It starts nothing.
package explored

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/plain"
	"github.com/rehearse-dev/rehearse/internal/show"
)

// maxBytes bounds what Read takes: a thousand bytes for each of 500,000 runs.
const maxBytes = 500 << 20

// Limits on foreign text for people, in characters. JSON has it all.
const (
	maxName    = 200
	maxMessage = 500
)

// Verdict is what an exploration means: Error where the harness could not tell of a
// run or nothing took effect, Fail where a run broke an invariant, and Pass where
// all that took effect broke none.
func Verdict(r *survival.Result) gate.Verdict {
	n := r.Count()
	switch told := n[survival.Survived] + n[survival.Degraded] + n[survival.Failed]; {
	case told == 0 || told+n[survival.Unfired] < len(r.Cells): // an outcome that is not known is an error, too
		return gate.Error
	case n[survival.Failed] > 0:
		return gate.Fail
	}
	return gate.Pass
}

// JSON writes the whole result, indented.
func JSON(w io.Writer, r *survival.Result) error {
	if err := show.JSON(w, r); err != nil {
		return fmt.Errorf("write the exploration as JSON: %w", err)
	}
	return nil
}

// Read reads what JSON wrote. An unknown key, another schema and anything after the
// end are errors.
func Read(in io.Reader) (survival.Result, error) {
	var r survival.Result
	limited := &io.LimitedReader{R: in, N: maxBytes}
	dec := json.NewDecoder(limited)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return survival.Result{}, fmt.Errorf("read the exploration: %w", tooLong(limited, err))
	}
	if r.Schema != survival.Schema {
		return survival.Result{}, fmt.Errorf("read the exploration: its schema is %s, and this program reads %s; explore again",
			plain.Code(r.Schema, maxName), survival.Schema)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return survival.Result{}, errors.New("read the exploration: something follows its end; explore again")
	}
	return r, nil
}

// tooLong explains an end that is that of the limit.
func tooLong(in *io.LimitedReader, err error) error {
	if in.N <= 0 {
		return fmt.Errorf("it is larger than %d MB", maxBytes>>20)
	}
	return err
}
