package plan

import (
	"reflect"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Parse parses the YAML of a plan strictly. It returns all errors in the order of the file; then the
// plan is empty. The name of the file is only used in errors. A file has at most yamlsrc.MaxBytes
// bytes.
func Parse(file string, data []byte) (Plan, yamlsrc.Diagnostics) {
	var p Plan
	doc, malformed := yamlsrc.Decode(file, data, &p)
	if !doc.Has("") || reflect.ValueOf(p).IsZero() && len(malformed) > 0 { // not even a part was decoded
		return Plan{}, malformed
	}
	found := malformed
	for _, problem := range p.Problems() {
		if !malformed.About(problem.Path) { // not a consequence of another error
			found = append(found, doc.At(problem.Path, problem.Message, problem.Nearest))
		}
	}
	if len(found) > 0 {
		found.Sort()
		return Plan{}, found
	}
	return p, nil
}
