package cli

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
)

// TestTutorialAgent does what docs/start/first-rehearsal.md shows for each language, in an empty folder, and what it
// shows for all of them after that (H-01, H-02). A section is skipped where its language, or its package, is not
// available.
func TestTutorialAgent(t *testing.T) {
	text := readDoc(t, "start/first-rehearsal.md")
	after := shellLines(docSection(t, text, "What can go wrong"))
	after = append(after, shellLines(docSection(t, text, "In CI"))...)
	for _, language := range []struct{ name, program string }{{"Node", "npm"}, {"Python", "python3"}, {"Go", "go"}} {
		t.Run(language.name, func(t *testing.T) {
			if _, err := exec.LookPath(language.program); err != nil {
				t.Skipf("%s is not on this machine", language.program)
			}
			g := gomega.NewWithT(t)
			commands := shellLines(docSection(t, text, language.name))
			g.Expect(commands).NotTo(gomega.BeEmpty())
			t.Chdir(t.TempDir())
			for _, line := range commands {
				if own, ok := strings.CutPrefix(line, "rehearse "); ok {
					g.Expect(runShown(own)).NotTo(gomega.ContainSubstring("exit code"), line)
					continue
				}
				out, err := exec.Command("sh", "-c", line).CombinedOutput()
				if err != nil && needsPackages(line) {
					t.Skipf("%s: the package is not available: %s", line, out)
				}
				g.Expect(err).NotTo(gomega.HaveOccurred(), "%s: %s", line, out)
			}
			explored := runShown(strings.TrimPrefix(after[0], "rehearse "))
			g.Expect(explored).To(gomega.ContainSubstring("smallest: call=1:empty-text"))
			g.Expect(explored).To(gomega.ContainSubstring("exit code 1"))
			g.Expect(runShown(strings.TrimPrefix(after[1], "rehearse "))).To(gomega.ContainSubstring("exit code 1"))
			g.Expect(runShown(strings.TrimPrefix(after[2], "rehearse "))).To(gomega.And(
				gomega.ContainSubstring("written  .github"), gomega.ContainSubstring("kept     scenarios")))
		})
	}
}

// needsPackages reports whether a command fetches packages, which a machine may not be able to.
func needsPackages(line string) bool {
	return strings.HasPrefix(line, "npm install ") || strings.HasPrefix(line, "go build -mod=mod ")
}

// TestTutorialAgentShows checks that the scenario of the tutorial is the one that init writes.
func TestTutorialAgentShows(t *testing.T) {
	g := gomega.NewWithT(t)
	shown := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(docSection(t, readDoc(t, "start/first-rehearsal.md"), "What you have"))
	t.Chdir(t.TempDir())
	g.Expect(run(kinds.All(), []string{"init", "--kind", "python"}, strings.NewReader(""), new(strings.Builder), new(strings.Builder))).
		To(gomega.Equal(exitPass))
	data, err := os.ReadFile("scenarios/agent.yaml")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	comment := regexp.MustCompile(`(?m)^# Your agent .*\n# scripted .*\n`)
	g.Expect(shown[1]).To(gomega.Equal(comment.ReplaceAllString(string(data), "")))
}

// docSection returns the text below a heading, up to the next one.
func docSection(t *testing.T, text, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, fmt.Sprintf("\n## %s\n", heading))
	if !ok {
		t.Fatalf("there is no section %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	return rest
}

// shellLines returns the commands in a text, without what they print.
func shellLines(text string) (lines []string) {
	for _, block := range regexp.MustCompile("(?s)```(sh|console)\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(block[2]) {
			command, prompted := strings.CutPrefix(strings.TrimRight(line, "\n"), "$ ")
			if prompted || block[1] == "sh" {
				lines = append(lines, command)
			}
		}
	}
	return lines
}
