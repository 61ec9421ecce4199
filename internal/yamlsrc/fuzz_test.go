package yamlsrc_test

import (
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// FuzzDecode checks that any input is either decoded or rejected with positions that
// exist in it.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		placed, "nmae: x\ntrials: many\n", "name: &a [*a]", bomb("[%s]", "*%s,"), bomb("{<<: [%s]}", "*%s,"),
		"name: a\n---\nb", "? {}\n: 1", "name: !!binary x", "name: a\nany: {<<: {a: 1}, !!int x: 2}", "\xff", "%YAML 1.2\n---\nname: a",
		"name: a\ntext: *x", "any: 2026-01-02\nname: !!timestamp x", "name: a\nsteps: [{<<: [*a]}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c config
		doc, found := yamlsrc.Decode("f", data, &c)
		lines := 1
		for _, r := range string(data) {
			if strings.ContainsRune("\n\r\u0085\u2028\u2029", r) {
				lines++
			}
		}
		for _, d := range found {
			if d.Line < 0 || d.Line > lines+1 || d.Message == "" {
				t.Errorf("%d lines, but %+v", lines, d)
			}
			if strings.ContainsAny(d.Detail(), "\x1b\x07\r") {
				t.Errorf("control characters in %q", d.Detail())
			}
		}
		if line := doc.At("steps[0].limit.matches", "", "").Line; line > lines+1 {
			t.Errorf("position on line %d of %d", line, lines)
		}
	})
}
