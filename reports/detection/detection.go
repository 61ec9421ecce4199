// Package detection renders the scores of detectors for a program, a reader and a
// terminal.
package detection

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Schema names the JSON form of a Report.
const Schema = "rehearse.detection/1"

// Report is how detectors did on labelled messages. But for the latencies, one
// corpus and one seed give one report, byte for byte.
type Report struct {
	Schema string `json:"schema"`
	// Tool is the program's name and version.
	Tool string `json:"tool,omitempty"`
	// Corpora are the files that were read, in order.
	Corpora []Corpus `json:"corpora"`
	// Interrupted says that not all of them was read.
	Interrupted bool `json:"interrupted"`
	// Problems say which lines of the corpora could not be read, and why.
	Problems []string `json:"problems"`
	// Detectors are in the order in which they were asked for.
	Detectors []detect.Evaluation `json:"detectors"`
	// Comparisons are of detectors on the same items.
	Comparisons []detect.Comparison `json:"comparisons"`
}

// Corpus is a file of labelled messages.
type Corpus struct {
	Name  string `json:"name"`
	Items int    `json:"items"`
	// Bad lines hold no item.
	Bad int `json:"bad_lines"`
	// Digest is a hash of the file with the name of its function, such as
	// "sha256:…".
	Digest string `json:"digest,omitempty"`
}

// JSON writes the whole report, indented. Lists that a reader iterates over are
// empty rather than null.
func JSON(w io.Writer, r Report) error {
	r.Schema = Schema
	r.Corpora, r.Problems = present(r.Corpora), present(r.Problems)
	r.Detectors, r.Comparisons = present(r.Detectors), present(r.Comparisons)
	if err := format.JSON(w, r); err != nil {
		return fmt.Errorf("write the scores as JSON: %w", err)
	}
	return nil
}

func present[T any](list []T) []T { return append([]T{}, list...) }
