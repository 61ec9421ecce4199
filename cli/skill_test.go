package cli

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/skills"
)

// shellCommand matches a command line of a shell and what it prints on standard output.
var shellCommand = regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```\n")

// skillPages are the pages of the skill whose commands and scenarios are run.
var skillPages = []string{"SKILL.md", "references/findings.md"}

// TestSkillRuns runs each command of the skill with each scenario that it shows, and compares the output
// with the page; "make golden" shows it anew. The agent of its examples is in testdata/skill.
func TestSkillRuns(t *testing.T) {
	for _, program := range []string{"sh", "jq", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not on this machine", program)
		}
	}
	t.Setenv("REHEARSE_OFFLINE", "1")
	for _, page := range skillPages {
		t.Run(page, func(t *testing.T) {
			g := gomega.NewWithT(t)
			file, err := filepath.Abs("../skills/rehearse/" + page)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			example := os.DirFS("testdata/skill")
			project := t.TempDir()
			g.Expect(os.CopyFS(project, example)).To(gomega.Succeed())
			t.Chdir(project)
			for _, name := range skillPages { // one page shows scenarios of another
				writeShown(t, readSkill(t, name), "")
			}
			checkShown(t, file, readSkill(t, page), shellCommand, func(line string) string {
				out, err := exec.Command("sh", "-c", line).Output()
				if err != nil {
					return string(out) + err.Error() + "\n"
				}
				return string(out)
			})
		})
	}
}

// TestSkillFormat checks what readers of skills require: the front matter has a name, which is that of the folder,
// and a description, and the page is short. Each command that a sentence names is one, with flags that exist.
func TestSkillFormat(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readSkill(t, "SKILL.md")
	g.Expect(strings.Count(text, "\n")).To(gomega.BeNumerically("<=", 200))
	parts := strings.SplitN(text, "---\n", 3)
	g.Expect(parts).To(gomega.HaveLen(3))
	g.Expect(parts[0]).To(gomega.BeEmpty())
	var front map[string]string
	g.Expect(yaml.Unmarshal([]byte(parts[1]), &front)).To(gomega.Succeed())
	g.Expect(front).To(gomega.And(gomega.HaveLen(2), gomega.HaveKeyWithValue("name", "rehearse"), gomega.HaveKey("description")))
	g.Expect(len(front["description"])).To(gomega.And(gomega.BeNumerically(">", 100), gomega.BeNumerically("<=", 1024)))

	known := map[string]map[string]bool{}
	flags := regexp.MustCompile(`--[a-z-]+`)
	for path, names := range flagsOfCommands() {
		known[strings.TrimPrefix(path, "rehearse ")] = names
	}
	commands := regexp.MustCompile("(?:`|\\$ |&& )rehearse ([a-z]+)([^`\n|>]*)")
	named := 0
	for _, page := range skillPages {
		for _, c := range commands.FindAllStringSubmatch(readSkill(t, page), -1) {
			named++
			g.Expect(known).To(gomega.HaveKey(c[1]), c[0])
			for _, flag := range flags.FindAllString(c[2], -1) {
				g.Expect(known[c[1]]).To(gomega.HaveKey(flag), c[0])
			}
		}
	}
	g.Expect(named).To(gomega.BeNumerically(">", 15))
}

// flagsOfCommands returns the flags of each command.
func flagsOfCommands() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	allCommands(func(cmd *cobra.Command) {
		names := map[string]bool{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names["--"+f.Name] = true })
		all[cmd.CommandPath()] = names
	})
	return all
}

func readSkill(t *testing.T, page string) string {
	t.Helper()
	data, err := fs.ReadFile(skills.Files, "rehearse/"+page)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
