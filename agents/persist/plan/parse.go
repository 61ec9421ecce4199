package plan

import (
	"reflect"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Parse parses the YAML of a plan strictly. It returns everything that is wrong, in the order of
// the file, whose name is only used for that; then the plan is empty. A file has at most
// yamlsrc.MaxBytes bytes.
func Parse(file string, data []byte) (Plan, yamlsrc.Diagnostics) {
	var p Plan
	doc, malformed := yamlsrc.Decode(file, data, &p)
	if !doc.Has("") || reflect.ValueOf(p).IsZero() && len(malformed) > 0 { // nothing was decoded
		return Plan{}, malformed
	}
	found := malformed
	for _, problem := range p.Problems() {
		if !malformed.About(problem.Path) { // not a consequence
			found = append(found, doc.At(problem.Path, problem.Message, problem.Nearest))
		}
	}
	if len(found) > 0 {
		found.Sort()
		return Plan{}, found
	}
	return p, nil
}
