package reports

import (
	"slices"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// DetectionSchema names the JSON form of a Report.
const DetectionSchema = "rehearse.detection/1"

// Detection is a report on detectors that judged labelled messages. Apart from the latencies, it
// is the same for the same corpus and seed.
type Detection struct {
	Schema string `json:"schema"`
	// Tool is the program's name and version.
	Tool string `json:"tool,omitempty"`
	// Corpora are the files that were read, in order.
	Corpora []DetectionCorpus `json:"corpora"`
	// Interrupted is true if the corpora were not read to the end.
	Interrupted bool `json:"interrupted"`
	// Problems describe the lines of the corpora that could not be read.
	Problems []string `json:"problems"`
	// Detectors are in the order of the request.
	Detectors []detect.Evaluation `json:"detectors"`
	// Comparisons compare detectors on the same items.
	Comparisons []detect.Comparison `json:"comparisons"`
}

// DetectionCorpus is a file of labelled messages.
type DetectionCorpus struct {
	Name  string `json:"name"`
	Items int    `json:"items"`
	// Bad counts the lines without a valid item.
	Bad int `json:"bad_lines"`
	// Digest is the hash of the file with the name of its function, such as "sha256:…".
	Digest string `json:"digest,omitempty"`
}

// MarshalJSON implements json.Marshaler. Lists are empty rather than null.
func (d Detection) MarshalJSON() ([]byte, error) {
	type fields Detection // without this method
	d.Schema = DetectionSchema
	d.Corpora, d.Problems = notNil(d.Corpora), notNil(d.Problems)
	d.Detectors, d.Comparisons = notNil(d.Detectors), notNil(d.Comparisons)
	return format.Marshal(fields(d))
}

func notNil[T any](list []T) []T { return append([]T{}, list...) }

// ByGroups returns the report with the groups of some dimensions only.
func (d Detection) ByGroups(dimensions []string) Detection {
	d.Detectors = slices.Clone(d.Detectors)
	for i := range d.Detectors {
		d.Detectors[i].Groups = slices.DeleteFunc(slices.Clone(d.Detectors[i].Groups), func(g detect.Dimension) bool {
			return !slices.Contains(dimensions, g.By)
		})
	}
	return d
}
