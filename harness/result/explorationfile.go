package result

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The limits of a file that is read. An exploration of a thousand calls has some
// thirty thousand cells of a few hundred bytes each.
const (
	maxExplorationBytes = 64 << 20
	maxCells       = 200_000
	// maxTogether is how many perturbations a cell may have.
	maxTogether = 16
	maxForeign  = 80 // characters of foreign text in an error
)

// Write writes a result, indented.
func WriteExploration(w io.Writer, r *Exploration) error {
	if err := format.JSON(w, r); err != nil {
		return fmt.Errorf("write the exploration as JSON: %w", err)
	}
	return nil
}

// Read reads the output of Write, and refuses anything else: another version, unknown and
// repeated keys, unknown words, and a file of more than MaxBytes. The texts in it are not
// checked; anybody may have written them.
func ReadExploration(in io.Reader) (Exploration, error) {
	limited := &io.LimitedReader{R: in, N: maxExplorationBytes + 1}
	data, err := io.ReadAll(limited)
	if err == nil && limited.N <= 0 {
		err = fmt.Errorf("it has more than %d MB", maxExplorationBytes>>20)
	}
	var r Exploration
	if err == nil {
		r, err = decode(data)
	}
	if err != nil {
		return Exploration{}, fmt.Errorf("read the exploration: %w; explore again", err)
	}
	return r, nil
}

func decode(data []byte) (Exploration, error) {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Exploration{}, explain(err)
	}
	switch {
	case head.Schema == nil:
		return Exploration{}, errors.New("it is none: it has no schema")
	case *head.Schema != ExplorationSchema:
		return Exploration{}, fmt.Errorf("its schema is %s, and this program reads %s", sanitize.Code(*head.Schema, maxForeign), ExplorationSchema)
	}
	var r Exploration
	if err := json.Unmarshal(data, &r, json.RejectUnknownMembers(true)); err != nil {
		return Exploration{}, explain(err)
	}
	return r, r.check()
}

// explain returns what is wrong and where, without quoting the file.
func explain(err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		what := "a value of another kind is expected"
		if errors.Is(err, json.ErrUnknownName) {
			what = "the key is not known"
		}
		return fmt.Errorf("at %s: %s", sanitize.Code(string(semantic.JSONPointer), maxForeign), what)
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return errors.New("the file ends in the middle")
		}
		return fmt.Errorf("at byte %d: it is not valid JSON", syntax.ByteOffset)
	}
	return err
}

// check refuses values that no exploration writes.
func (r *Exploration) check() error {
	switch {
	case len(r.Cells) > maxCells:
		return fmt.Errorf("it has %d cells, and at most %d are read", len(r.Cells), maxCells)
	case r.NotRun < 0:
		return errors.New("not_run is negative")
	}
	for i := range r.Cells {
		if err := r.Cells[i].check(); err != nil {
			return fmt.Errorf("cell %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *Cell) check() error {
	switch {
	case !slices.Contains(Families(), c.Family):
		return fmt.Errorf("the family %s is not known", sanitize.Code(string(c.Family), maxForeign))
	case !slices.Contains(outcomes(), c.Outcome):
		return fmt.Errorf("the outcome %s is not known", sanitize.Code(string(c.Outcome), maxForeign))
	case len(c.Perturb) == 0 || max(len(c.Perturb), len(c.Shrunk)) > maxTogether:
		return fmt.Errorf("it has %d perturbations, and 1 to %d are possible", max(len(c.Perturb), len(c.Shrunk)), maxTogether)
	case c.Calls < 0 || c.Fired < 0:
		return errors.New("a count is negative")
	}
	return nil
}
