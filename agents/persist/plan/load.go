package plan

import (
	"reflect"

	"github.com/rehearse-dev/rehearse/internal/source"
)

// Load reads a plan from a YAML file; file is only its name in errors. It reads
// strictly: the error lists everything that is wrong, each with file, line and
// column, as source.Diagnostics. A file has at most source.MaxBytes bytes.
func Load(file string, data []byte) (Plan, error) {
	var p Plan
	doc, found := source.Decode(file, data, &p)
	if !doc.Has("") || reflect.ValueOf(p).IsZero() && len(found) > 0 { // it has no meaning to check
		return Plan{}, found.Err()
	}
	malformed := found
	for _, problem := range p.Validate() {
		if !malformed.About(problem.Path) { // one cause, one diagnostic
			found = append(found, doc.At(problem.Path, problem.Message, problem.Nearest))
		}
	}
	if len(found) > 0 {
		found.Sort()
		return Plan{}, found
	}
	return p, nil
}
