package plan

import (
	"reflect"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Parse reads a plan from a YAML file; file is only its name in diagnostics. It
// reads strictly and lists everything that is wrong, in the order of the file. A
// file has at most source.MaxBytes bytes. With diagnostics the plan is empty.
func Parse(file string, data []byte) (Plan, yamlsrc.Diagnostics) {
	var p Plan
	doc, malformed := yamlsrc.Decode(file, data, &p)
	if !doc.Has("") || reflect.ValueOf(p).IsZero() && len(malformed) > 0 { // it has no meaning to check
		return Plan{}, malformed
	}
	found := malformed
	for _, problem := range p.Problems() {
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
