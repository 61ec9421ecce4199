package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestTutorialIncident does what docs/how-to/tutorial-incident.md shows, in a folder with the files that it shows (H-02).
func TestTutorialIncident(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not on this machine")
	}
	g := gomega.NewWithT(t)
	text := readDoc(t, "how-to/tutorial-incident.md")
	block := func(language string) string {
		found := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindStringSubmatch(text)
		g.Expect(found).NotTo(gomega.BeNil(), language)
		return found[1]
	}
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "incident.json"), []byte(block("json")), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "agent.sh"), []byte(block("bash")), 0o600)).To(gomega.Succeed())
	shell := func(section string) string {
		out, err := inShell(t, folder, strings.Join(shellLines(docSection(t, text, section)), "\n"))
		g.Expect(err).NotTo(gomega.HaveOccurred(), out)
		return out
	}
	g.Expect(shell("The scenario")).To(gomega.ContainSubstring("1 scenario: no problems found"))
	written, err := os.ReadFile(filepath.Join(folder, "scenarios", "promise.yaml"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	version := regexp.MustCompile(`by rehearse \S+ `)
	g.Expect(version.ReplaceAllString(string(written), "")).To(gomega.Equal(version.ReplaceAllString(block("yaml"), "")))
	g.Expect(shell("The same run again")).To(gomega.MatchRegexp(`promise +pass +done`))
	out := shell("The regression test")
	g.Expect(out).To(gomega.MatchRegexp(`(?s)promise +fail.*the incident is reproduced.*promise +pass`))
}

// inShell runs commands in a folder, where this program is rehearse, and returns what they print.
func inShell(t *testing.T, folder, commands string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "rehearse")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1", "REHEARSE_HISTORY="+filepath.Join(folder, "history.db"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
