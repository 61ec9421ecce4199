package cli

import (
	"bytes"
	"cmp"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TestTutorialClaude runs the last section of docs/how-to/tutorial-loop.md: Claude Code repairs the project of the
// tutorial against the model that it shows.
func TestTutorialClaude(t *testing.T) {
	g := gomega.NewWithT(t)
	program, err := exec.LookPath(cmp.Or(os.Getenv("REHEARSE_CLAUDE"), "claude"))
	if err != nil {
		t.Skip("Claude Code is not on this machine; REHEARSE_CLAUDE names it")
	}
	text := readDoc(t, "how-to/tutorial-loop.md")
	bin, home := t.TempDir(), t.TempDir()
	g.Expect(os.Symlink(program, filepath.Join(bin, "claude"))).To(gomega.Succeed())
	t.Chdir(t.TempDir())
	writeShown(t, text, "")
	g.Expect(exec.Command("git", "init", "--quiet").Run()).To(gomega.Succeed())

	script, found := scenarios.LoadScript("model.yaml", scenarios.Options{Kinds: kinds.All().Formats()})
	g.Expect(found.Err()).NotTo(gomega.HaveOccurred())
	compiled, err := mocks.Compile(script)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var server mocks.Server
	g.Expect(server.Attach("1", mocks.NewEngine(compiled, mocks.EngineOptions{}))).To(gomega.Succeed())
	listening := httptest.NewServer(&server)
	t.Cleanup(listening.Close)
	for name, value := range map[string]string{
		"PATH": bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME": home, "REHEARSE_OFFLINE": "",
		"ANTHROPIC_BASE_URL": listening.URL + "/t/1", "ANTHROPIC_API_KEY": "works-nowhere", "GOCACHE": goCache(t),
		"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
	} {
		t.Setenv(name, value)
	}

	command := regexp.MustCompile(`(?m)^rehearse (loop .*--backend claude.*)$`).FindStringSubmatch(text)
	g.Expect(command).NotTo(gomega.BeNil())
	var args []string
	for _, w := range word.FindAllStringSubmatch(command[1], -1) {
		args = append(args, w[1]+w[2])
	}
	var out, errs bytes.Buffer
	code := run(kinds.All(), args, strings.NewReader(""), &out, &errs)
	g.Expect(code).To(gomega.Equal(exitPass), errs.String())
	g.Expect(out.String()).To(gomega.HaveSuffix("\nDONE\n"))
	g.Expect(errs.String()).To(gomega.And(
		gomega.ContainSubstring("no files changed; "), gomega.ContainSubstring("1 file, +2 −2 (calc.go); "),
		gomega.ContainSubstring("check go test ./...: pass"), gomega.ContainSubstring("done after 2 iterations")))
}

// goCache returns the folder of Go's build cache, which is below HOME by default.
func goCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}
