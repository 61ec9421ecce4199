// Package detection renders the scores of detectors for a program, a reader and a
// terminal.
package detection

import (
	"fmt"
	"io"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/tty"
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
	Detectors []score.Result `json:"detectors"`
	// Comparisons are of detectors on the same items.
	Comparisons []score.Comparison `json:"comparisons"`
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

// Options are how a report is rendered; the zero value suits all renderers. Each
// renderer uses what concerns it.
type Options struct {
	// Terminal is where tables are drawn.
	Terminal tty.Terminal
	// Errors is how many false positives, and how many false negatives, of each
	// detector are shown; 0 means all that the report has, a negative number none.
	Errors int
	// MaxBytes bounds Markdown; 0 means 1,024,000.
	MaxBytes int
}

// JSON writes the whole report, indented. Lists that a reader iterates over are
// empty rather than null.
func JSON(w io.Writer, r Report, _ Options) error {
	r.Schema = Schema
	r.Corpora, r.Problems = present(r.Corpora), present(r.Problems)
	r.Detectors, r.Comparisons = present(r.Detectors), present(r.Comparisons)
	if err := format.JSON(w, r); err != nil {
		return fmt.Errorf("write the scores as JSON: %w", err)
	}
	return nil
}

func present[T any](list []T) []T { return append([]T{}, list...) }

// Limits on foreign text in reports for people, in characters. JSON has what the
// scores kept.
const (
	maxName  = 80
	maxText  = 300
	maxShown = 3 // reasons, pieces of evidence and steps of a mistake
)

// listed returns the mistakes that are shown.
func (o Options) listed(list []score.Mistake) []score.Mistake {
	switch {
	case o.Errors < 0:
		return nil
	case o.Errors == 0:
		return list
	default:
		return list[:min(o.Errors, len(list))]
	}
}

// dimensions are those that tell more than the scores overall: not those in which
// all items are of one group.
func dimensions(r score.Result) []score.Dimension {
	return slices.DeleteFunc(slices.Clone(r.Groups), func(d score.Dimension) bool {
		return len(d.Groups) == 1 && d.Groups[0].Total() == r.Overall.Total()
	})
}

// byWeight returns the groups to show: all of them in their order, or if there are
// more than limit those with the most items, and how many are left.
func byWeight(d score.Dimension, limit int) (groups []score.Group, left int) {
	if len(d.Groups) <= limit {
		return d.Groups, 0
	}
	groups = slices.SortedStableFunc(slices.Values(d.Groups), func(a, b score.Group) int { return b.Total() - a.Total() })
	return groups[:limit], len(groups) - limit
}
