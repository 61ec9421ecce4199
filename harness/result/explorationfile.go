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

// The limits of an exploration file. An exploration of a thousand calls has some thirty thousand
// cells of a few hundred bytes each.
const (
	maxExplorationBytes = 64 << 20
	maxCells            = 200_000
	// maxTogether limits the perturbations of a cell.
	maxTogether = 16
	maxForeign  = 80 // characters of foreign text in an error
)

// WriteExploration writes an exploration as indented JSON.
func WriteExploration(w io.Writer, r *Exploration) error {
	if err := format.JSON(w, r); err != nil {
		return fmt.Errorf("write the exploration as JSON: %w", err)
	}
	return nil
}

// ReadExploration reads the output of WriteExploration. It rejects other versions, unknown and
// repeated keys, unknown enumeration values and files that are too large. It does not validate
// texts, which may come from anybody.
func ReadExploration(in io.Reader) (Exploration, error) {
	limited := &io.LimitedReader{R: in, N: maxExplorationBytes + 1}
	data, err := io.ReadAll(limited)
	if err == nil && limited.N <= 0 {
		err = fmt.Errorf("the file is larger than %d MB", maxExplorationBytes>>20)
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
		return Exploration{}, errors.New("not an exploration: schema is missing")
	case *head.Schema != ExplorationSchema:
		return Exploration{}, fmt.Errorf("unsupported schema %s; this program reads %s",
			sanitize.Code(*head.Schema, maxForeign), ExplorationSchema)
	}
	var r Exploration
	if err := json.Unmarshal(data, &r, json.RejectUnknownMembers(true)); err != nil {
		return Exploration{}, explain(err)
	}
	return r, r.check()
}

// explain describes an error and its position without quoting the file.
func explain(err error) error {
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		what := "the value has the wrong type"
		if errors.Is(err, json.ErrUnknownName) {
			what = "unknown key"
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

// check rejects values that no exploration contains.
func (r *Exploration) check() error {
	switch {
	case len(r.Cells) > maxCells:
		return fmt.Errorf("it has %d cells; at most %d are allowed", len(r.Cells), maxCells)
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
		return fmt.Errorf("unknown family %s", sanitize.Code(string(c.Family), maxForeign))
	case !slices.Contains(outcomes(), c.Outcome):
		return fmt.Errorf("unknown outcome %s", sanitize.Code(string(c.Outcome), maxForeign))
	case len(c.Perturb) == 0 || max(len(c.Perturb), len(c.Shrunk)) > maxTogether:
		return fmt.Errorf("it has %d perturbations; 1 to %d are allowed", max(len(c.Perturb), len(c.Shrunk)), maxTogether)
	case c.Calls < 0 || c.Fired < 0:
		return errors.New("a count is negative")
	}
	return nil
}
