package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// block is a block of shell commands on a page.
type block struct {
	page  string // from the top of the repository
	fence string // sh, bash or console
	lines []string
	text  string
}

var shellFence = regexp.MustCompile("(?ms)^ *```(sh|bash|console)\n(.*?)^ *```$")

// shellBlocks returns the blocks of all pages. A line that ends in \ is joined with the next one.
func shellBlocks(t *testing.T) (blocks []block) {
	t.Helper()
	out, err := exec.Command("git", "-C", "..", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Skipf("the pages are listed by git: %v", err)
	}
	for _, page := range strings.Fields(string(out)) {
		if strings.Contains(page, "testdata/") || strings.HasPrefix(page, "scenarios/") || strings.HasPrefix(page, "fixtures/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join("..", page))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range shellFence.FindAllStringSubmatch(string(data), -1) {
			b := block{page: page, fence: found[1], text: found[0]}
			for line := range strings.Lines(strings.ReplaceAll(found[2], "\\\n", " ")) {
				command, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
				if command != "" && (prompted || b.fence != "console") {
					b.lines = append(b.lines, command)
				}
			}
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// TestDocBlocksRun checks that each block of commands on a page is run by a test, or is listed in testdata/blocks.txt
// with the test that runs it or the reason why none does. Each line there has a page, the first command of the block and a
// reason, separated by tabs: "run by" a test that reads the page, "covered by" a test of such commands, or "not run:".
func TestDocBlocksRun(t *testing.T) {
	g := gomega.NewWithT(t)
	data, err := os.ReadFile("testdata/blocks.txt")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	listed := map[string]bool{} // whether the page has the block
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		g.Expect(fields).To(gomega.HaveLen(3), line)
		how, test, _ := strings.Cut(fields[2], " by ")
		switch how {
		case "run": // the test reads the page
			data, err := os.ReadFile("../" + test)
			g.Expect(err).NotTo(gomega.HaveOccurred(), line)
			g.Expect(string(data)).To(gomega.ContainSubstring(filepath.Base(fields[0])), line)
		case "covered": // the test runs such commands
			g.Expect("../"+test).To(gomega.BeARegularFile(), line)
		default:
			g.Expect(fields[2]).To(gomega.HavePrefix("not run: "), line)
		}
		listed[fields[0]+"\t"+fields[1]] = false
	}
	for _, b := range shellBlocks(t) {
		if b.page == "docs/reference/cli.md" || strings.HasPrefix(b.page, "skills/") { // from the help; run by TestSkill
			continue
		}
		first, _, _ := strings.Cut(append(b.lines, "")[0], "  #") // without its comment
		name := b.page + "\t" + strings.TrimSpace(first)
		_, ok := listed[name]
		if isRun := slices.Contains(docsThatRun(), b.page) && shownCommand.MatchString(b.text+"\n"); isRun {
			g.Expect(ok).To(gomega.BeFalse(), "TestAgentDocsRun runs %s", name)
			continue
		}
		if !ok {
			t.Errorf("no test runs this block, and testdata/blocks.txt does not say why:\n%s", name)
		}
		listed[name] = true
	}
	for name, found := range listed {
		g.Expect(found).To(gomega.BeTrue(), "testdata/blocks.txt lists a block that is not there: %s", name)
	}
}

// docsThatRun are the pages whose console blocks TestAgentDocsRun runs.
func docsThatRun() (pages []string) {
	for _, doc := range ranDocs {
		pages = append(pages, "docs/"+doc.name)
	}
	return pages
}

// TestDocShell runs all blocks of pages whose commands need only a few files.
func TestDocShell(t *testing.T) {
	examples, err := filepath.Abs("../examples")
	if err != nil {
		t.Fatal(err)
	}
	const scenario = "mkdir scenarios; printf 'name: order-status\ndrive: {loop: {prompt: Say DONE.}}\n" +
		"backend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: done}\n' > scenarios/order-status.yaml\n"
	for page, setup := range map[string]string{
		"how-to/guard.md":        "echo All 12 tests pass. | tee last-message.md message.md; echo Fix the test. > prompt.md\n",
		"how-to/history.md":      scenario + "rehearse run; rehearse run\n",
		"reference/evidence.md":  scenario + "git init -q\n",
		"reference/recording.md": "rehearse run loop/golden-marker --out rehearse-runs/demo; ln -s " + examples + " examples\n",
		"reference/report.md":    "rehearse detect --json > detect.json\n",
	} {
		t.Run(page, func(t *testing.T) {
			for _, program := range map[string][]string{"reference/evidence.md": {"ssh-keygen", "jq", "git"}, "reference/recording.md": {"python3"}}[page] {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("the commands need %s", program)
				}
			}
			commands := setup + strings.Join(shellLines(readDoc(t, page)), "\n")
			commands = strings.ReplaceAll(commands, "ssh-keygen -t", "ssh-keygen -q -N '' -t") // asks for no passphrase
			out, err := inShell(t, t.TempDir(), commands)
			if err != nil {
				t.Errorf("%s\n%s%v", commands, out, err)
			}
		})
	}
}

// TestDocBlocksParse checks that every command and flag in the blocks exists, also in those that are not run.
func TestDocBlocksParse(t *testing.T) {
	count := 0
	for _, b := range shellBlocks(t) {
		for _, line := range b.lines {
			args := rehearseArgs(line)
			if len(args) == 0 {
				continue
			}
			count++
			root := quietRoot()
			cmd, rest, err := root.Find(args)
			if err == nil && !cmd.DisableFlagParsing {
				err = cmd.ParseFlags(rest)
			}
			if err != nil || cmd == root {
				t.Errorf("%s: %s: %v", b.page, line, err)
			}
		}
	}
	if count < 100 {
		t.Errorf("found only %d commands", count)
	}
}

var (
	ownCommand = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*rehearse ([a-z].*)$`)
	shellWord  = regexp.MustCompile(`'([^']*)'|"([^"]*)"|([^\s'"]+)`)
	// What ends a command in a line of a shell.
	shellEnd = regexp.MustCompile(`^(?:#.*|\|+|&+|;|\d?>.*|<.*)$`)
)

// rehearseArgs returns the arguments of the command of rehearse that a line begins with; none if it is another command.
func rehearseArgs(line string) (args []string) {
	found := ownCommand.FindStringSubmatch(line)
	if found == nil {
		return nil
	}
	for _, w := range shellWord.FindAllStringSubmatch(found[1], -1) {
		if shellEnd.MatchString(w[0]) {
			break
		}
		bare, ended := strings.CutSuffix(w[3], ";")
		args = append(args, w[1]+w[2]+bare)
		if ended {
			break
		}
	}
	return args
}

// TestDocScenariosParse checks that the scenarios of the pages for newcomers are valid.
func TestDocScenariosParse(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, page := range []string{"../README.md", "../docs/start/first-rehearsal.md", "../docs/start/first-experiment.md", "../docs/reference/scenarios.md"} {
		data, err := os.ReadFile(page)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		count := 0
		for _, found := range regexp.MustCompile("(?s)```yaml\n((?:#[^\n]*\n)?name: .*?)```").FindAllStringSubmatch(string(data), -1) {
			if !strings.Contains(found[1], "\ndrive:") {
				continue
			}
			count++
			_, findings := scenarios.Parse(page, []byte(found[1]), nil, scenarios.Options{Kinds: kinds.All().Formats()})
			g.Expect(findings.Err()).NotTo(gomega.HaveOccurred(), found[1])
		}
		g.Expect(count).To(gomega.BeNumerically(">", 0), page)
	}
}

// TestExamplesRun checks that each folder of examples has a test that runs it.
func TestExamplesRun(t *testing.T) {
	g := gomega.NewWithT(t)
	folders, err := os.ReadDir("../examples")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	elsewhere := map[string][2]string{"ci": {"ci_test.go", `"../examples/ci"`}, "verify": {"verifiers_test.go", `"examples", "verify"`}}
	for _, folder := range folders {
		test, other := elsewhere[folder.Name()]
		if !other {
			tests, err := filepath.Glob("../examples/" + folder.Name() + "/*_test.go")
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(tests).NotTo(gomega.BeEmpty(), "no test runs examples/%s", folder.Name())
			continue
		}
		data, err := os.ReadFile(test[0])
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(data)).To(gomega.ContainSubstring(test[1]), test[0])
	}
}
