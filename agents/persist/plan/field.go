package plan

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// kind is one of several fields, of which exactly one must be given.
type kind struct {
	name  string
	given bool
}

func (v *validator) one(at, what string, kinds []kind) {
	var given, all []string
	for _, k := range kinds {
		all = append(all, k.name)
		if k.given {
			given = append(given, k.name)
		}
	}
	switch len(given) {
	case 0:
		v.add(at, "%s needs one of %s", what, strings.Join(all, ", "))
	case 1:
	default:
		v.add(at, "%s must have only one of %s, not %s", what, strings.Join(all, ", "), strings.Join(given, " and "))
	}
}

// command checks the command of a worker or probe.
func (v *validator) command(at string, argv, env []string) {
	v.list(at+".command", argv)
	for i, arg := range argv {
		switch {
		case i == 0 && strings.TrimSpace(arg) == "":
			v.add(item(at+".command", i), "the name of the program is empty")
		case strings.ContainsRune(arg, 0):
			v.add(item(at+".command", i), "an argument cannot contain a NUL character")
		}
	}
	if len(env) > 0 && len(argv) == 0 {
		v.add(at+".env", "only a command has an environment")
	}
	v.list(at+".env", env)
	for i, name := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			v.add(item(at+".env", i), "%q is not the name of a variable; give only the name, without a value", clip(name))
		}
	}
}

// path checks a path, which must stay in the folder of the plan.
func (v *validator) path(at, name string) {
	switch {
	case strings.TrimSpace(name) == "":
		v.add(at, "the path is empty")
	case len(name) > maxPath || strings.ContainsRune(name, 0):
		v.add(at, "%q is not a path", clip(name))
	case !filepath.IsLocal(filepath.FromSlash(name)):
		v.add(at, "%q leaves the folder of the plan; write a relative path inside it", clip(name))
	}
}

func (v *validator) text(at, text string) {
	if len(text) > maxText {
		v.add(at, "the text has %d bytes; at most %d are allowed", len(text), maxText)
	}
}

func (v *validator) list(at string, items []string) bool {
	if len(items) > maxItems {
		v.add(at, "the list has %d entries; at most %d are allowed", len(items), maxItems)
		return false
	}
	return true
}

func (v *validator) duration(at string, d quantity.Duration) {
	if d < 0 {
		v.add(at, "%s is negative", d)
	}
}

func item(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// clip shortens a hostile value.
func clip(s string) string { return sanitize.Cut(s, 60) }
