package scenarios

import (
	"fmt"
	"io/fs"
	"os"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// LoadScript reads the script of a mock server: a script file, or the backend of a scenario,
// given as a file or by the name of a shipped one.
//
// With diagnostics the script must not be used.
func LoadScript(name string, opts Options) (mocks.Script, Diagnostics) {
	var script mocks.Script
	l := loader{opts: opts, read: map[string]bool{}, named: map[string]yamlsrc.Diagnostic{}}
	if _, err := os.Stat(name); err != nil {
		l.pattern(name)
	} else {
		problem := open(name, func(file string, data []byte, folder fs.FS) {
			if doc, _ := yamlsrc.Parse(file, data); doc.Has("drive") {
				l.add(parse(file, data, folder, l.opts))
			} else {
				script, l.found = parseScript(file, data, folder, newDigest(), (*Checker).checkServed)
			}
		})
		if problem != nil {
			l.found = Diagnostics{*problem}
		}
	}
	switch {
	case len(l.found) > 0:
	case len(l.set) > 1:
		l.fail(name, "the name matches several scenarios; a server serves the script of one", l.set[0].Name)
	case len(l.set) == 1 && l.set[0].Backend.Live():
		l.fail(name, "the backend of this scenario is live and has no script to serve", "")
	case len(l.set) == 1:
		script = l.set[0].Backend.Script
		for _, answer := range script.Answers() {
			if f := answer.Fault; isProcessFault(f) {
				l.fail(name, fmt.Sprintf("only a command-line agent can show the fault %q, not a server", f.Kind), "")
				break
			}
		}
	}
	return script, l.found
}

// checkServed checks a script that an API serves.
func (c *Checker) checkServed(s *mocks.Script) { c.checkAPIFaults(s, "") }

// parseScript reads a separate script, with further checks, and adds the files that it names to sum.
func parseScript(file string, data []byte, folder fs.FS, sum *digest, checks ...func(*Checker, *mocks.Script)) (mocks.Script, Diagnostics) {
	var script mocks.Script
	doc, found := yamlsrc.Decode(file, data, &script)
	if !doc.Has("") {
		return script, found
	}
	c := Checker{doc: doc, decoding: found}
	c.checkLines(&script, "")
	for _, check := range checks {
		check(&c, &script)
	}
	c.loadFiles(&script, "", folder, sum)
	found = append(found, c.found...)
	found.Sort()
	return script, found
}
