package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestImportWithoutScenario: a conversation that is too large for a scenario is another matter than one without answers.
func TestImportWithoutScenario(t *testing.T) {
	answer := func(text string) string {
		return fmt.Sprintf(`[{"id":"1","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:00.000Z",`+
			`"input":[{"role":"user","content":"hi"}],"output":{"role":"assistant","content":%q}}]`, text)
	}
	for name, tc := range map[string]struct {
		text string
		code int
		want string
	}{
		"too large": {
			answer(strings.Repeat("long ", 300_000)), exitNoVerdict,
			"write scenario incident/langfuse-t: it has 15[0-9]{5} bytes, and at most 1048576 \\(1 MiB\\) are allowed; try --match order, .*\n" +
				"no scenario was written\n$",
		},
		"nothing to repeat": {
			`[{"id":"1","traceId":"t","type":"GENERATION","startTime":"2026-11-01T10:00:00.000Z","level":"ERROR","statusMessage":"no"}]`,
			exitFail, "import .*: conversation t has no answer that a script could repeat\n  The last call .*\n  Call 1 is left out: .*\n" +
				"the files have nothing that a scenario can repeat; no scenario was written\n$",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "trace.json")
			g.Expect(os.WriteFile(file, []byte(tc.text), 0o600)).To(gomega.Succeed())
			var printed bytes.Buffer
			a := &app{stdout: &printed, stderr: &printed, getenv: os.Getenv}
			err := a.importFiles([]string{file}, importFlags{format: "auto", out: filepath.Join(dir, "out")})
			exit, ok := errors.AsType[*exitError](err)
			g.Expect(ok).To(gomega.BeTrue(), "%v", err)
			g.Expect(exit.code).To(gomega.Equal(tc.code))
			g.Expect(printed.String()).To(gomega.MatchRegexp(tc.want))
		})
	}
}
