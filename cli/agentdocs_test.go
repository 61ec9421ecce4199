package cli

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
)

// TestAgentDocsName checks that docs/reference/react.md and docs/reference/supervisor.md name every status,
// exit code, rule, record and key of the code.
func TestAgentDocsName(t *testing.T) {
	g := gomega.NewWithT(t)
	text := readDoc(t, "reference/react.md")
	for _, s := range react.Statuses() {
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | %d | %s", s.Status, s.ExitCode, s.Meaning))
	}
	for _, name := range slices.Concat(
		constants(t, "../agents/react", regexp.MustCompile("^rule|^guardCycle$|^guardDepth$")),
		constants(t, "../agents/react", regexp.MustCompile("^(Ambiguity|Decision|Security|Conflict|Missing|Iterations)$")),
		slices.DeleteFunc(constants(t, "../agents/react/action", regexp.MustCompile(`^Rule|^[A-Z][a-z]+(Info)?$`)), func(s string) bool {
			return s == "engine-action" // its agents do not see it
		}),
		constants(t, "../agents/react/step", regexp.MustCompile("^(Completeness|Consistency|Correctness|Constraints)$")),
		keysOf(agentfile.Front{}, "yaml"), keysOf(agentfile.Command{}, "yaml"), keysOf(agentfile.Input{}, "yaml"),
		keysOf(react.Result{}, "json"),
	) {
		g.Expect(text).To(gomega.ContainSubstring("`"+name+"`"), "docs/reference/react.md does not name it")
	}
	rules := quotedIn(t, "../agents/react/step/step.go", "// Rule is the broken rule", "Message string")
	for _, rule := range append(rules, quotedIn(t, "../agents/react/step/verification_read.go", "// ReadVerification ", "func ReadVerification")...) {
		g.Expect(text).To(gomega.ContainSubstring("`"+rule+"`"), "docs/reference/react.md does not name the rule")
	}
	for _, name := range keysOf(agentfile.FrontContract{}, "yaml") {
		g.Expect(text).To(gomega.ContainSubstring("`contract." + name + "`"))
	}

	text = readDoc(t, "reference/loop.md")
	for _, s := range loop.Statuses() {
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | %d | %s |", s.Status, s.ExitCode, s.Meaning))
	}

	text = readDoc(t, "reference/supervisor.md")
	for _, s := range persist.Statuses() {
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | %d | %s", s.Status, s.ExitCode, s.Meaning))
	}
	for _, c := range plan.Checks() {
		own := ""
		if c.Own {
			own = "yes"
		}
		g.Expect(text).To(gomega.ContainSubstring("| `%s` | %s | %s | %s |", c.Name, c.Meaning, c.Criticality, own))
	}
	for _, name := range slices.Concat(
		constants(t, "../agents/persist/state", regexp.MustCompile("^(shortRun|todosUnchecked|validationMissing|iterationIncomplete|pendingTasks|refusedStop)$")),
		constants(t, "../agents/persist/state", regexp.MustCompile("^(Kind|why|[Gg]rade)[A-Z]")),
		constants(t, "../agents/persist/plan", regexp.MustCompile("^(Pass|Fail|Unknown|None|critical|high|medium|low)$")),
		keysOf(plan.Plan{}, "yaml"), keysOf(plan.Task{}, "yaml"), keysOf(plan.Worker{}, "yaml"), keysOf(plan.React{}, "yaml"),
		keysOf(plan.Probe{}, "yaml"), keysOf(plan.Limits{}, "yaml"), keysOf(llm.Caps{}, "yaml"),
	) {
		g.Expect(text).To(gomega.ContainSubstring("`"+name+"`"), "docs/reference/supervisor.md does not name it")
	}
}

// ranDocs are the pages whose console blocks TestAgentDocsRun runs, and a program that they need.
var ranDocs = []struct{ name, needs string }{
	{"reference/react.md", "sh"},
	{"reference/supervisor.md", "sh"},
	{"how-to/gate.md", "sh"},
	{"how-to/requirements.md", "sh"},
	{"how-to/tutorial-loop.md", "sh"},
	{"start/first-rehearsal.md", "python3"},
	{"start/first-gate.md", "git"},
	{"start/first-experiment.md", "sh"},
}

// TestAgentDocsRun does what docs/reference/react.md and its like show, with the
// files that they show, and compares what comes of it; "make golden" shows it anew.
func TestAgentDocsRun(t *testing.T) {
	for _, doc := range ranDocs {
		t.Run(doc.name, func(t *testing.T) {
			for _, program := range []string{"sh", doc.needs} {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("the commands need %s", program)
				}
			}
			g := gomega.NewWithT(t)
			path, err := filepath.Abs("../docs/" + doc.name)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			text := readDoc(t, doc.name)
			t.Chdir(t.TempDir())
			for _, person := range []string{"AUTHOR", "COMMITTER"} {
				t.Setenv("GIT_"+person+"_NAME", "Lea")
				t.Setenv("GIT_"+person+"_EMAIL", "lea@example.com")
			}
			checkShown(t, path, text, shownCommand, runLine)
		})
	}
}

var (
	shownFile = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?)```\n")
	// A comment right before a command that restores a file.
	shownAgain   = regexp.MustCompile("<!-- again: (\\S+) -->\n$")
	shownCommand = regexp.MustCompile("(?s)```console\n\\$ ([^\n]*)\n(.*?)```\n")
	word         = regexp.MustCompile(`"([^"]*)"|(\S+)`)
	// What differs from run to run: times, and the names of transcripts and of folders of runs.
	varying = regexp.MustCompile(`\b[0-9a-f]{32}\b|\b\d+(\.\d+)?(ms|s|µs)\b|\d{8}-\d{6}(\.\d{3}|-\d+)?\b|/\S*/\.rehearse/`)
)

// checkShown runs the commands that a page shows, each after the files before it were written, and compares their output
// with the page; with -update it rewrites the page. command matches a block: its command line and its output.
func checkShown(t *testing.T, path, text string, command *regexp.Regexp, run func(line string) string) {
	t.Helper()
	g := gomega.NewWithT(t)
	commands := command.FindAllStringSubmatch(text, -1)
	g.Expect(commands).NotTo(gomega.BeEmpty())
	rest := text
	for _, c := range commands {
		before, after, _ := strings.Cut(rest, c[0])
		rest = after
		writeShown(t, before, "")
		if again := shownAgain.FindStringSubmatch(before); again != nil {
			writeShown(t, text, again[1])
		}
		got := run(c[1])
		if *update && !asShown(got, c[2]) {
			block := strings.TrimSuffix(c[0], c[2]+"```\n") + got + "```\n"
			text = strings.Replace(text, c[0], block, 1)
			g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(gomega.Succeed())
			continue
		}
		g.Expect(got).To(gomega.Satisfy(func(got string) bool { return asShown(got, c[2]) }),
			"%s is shown to print\n%s", c[1], c[2])
	}
}

// writeShown writes the files that a text shows, or only the one with a name.
func writeShown(t *testing.T, text, only string) {
	t.Helper()
	g := gomega.NewWithT(t)
	for _, file := range shownFile.FindAllStringSubmatch(text, -1) {
		if only != "" && file[1] != only {
			continue
		}
		g.Expect(os.MkdirAll(filepath.Dir(file[1]), 0o700)).To(gomega.Succeed())
		g.Expect(os.WriteFile(file[1], []byte(file[2]), 0o600)).To(gomega.Succeed())
	}
}

// The width of columns depends on varying values.
var gap = regexp.MustCompile(`  +|-{9,}`)

// runLine runs a line of a shell, as runShown does if it is a command of rehearse.
func runLine(line string) string {
	if own, ok := strings.CutPrefix(line, "rehearse "); ok || line == "rehearse" {
		return runShown(own)
	}
	out, err := exec.Command("sh", "-c", line).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%v\n", out, err)
	}
	return string(out)
}

// runShown runs a command line and returns what it prints, standard error first.
func runShown(line string) string {
	var args []string
	for _, w := range word.FindAllStringSubmatch(line, -1) {
		args = append(args, w[1]+w[2])
	}
	var out, errs bytes.Buffer
	text := ""
	if code := run(kinds.All(), args, strings.NewReader(""), &out, &errs); code != exitPass {
		text = fmt.Sprintf("exit code %d\n", code)
	}
	return errs.String() + out.String() + text
}

// asShown compares line by line. A shown line that ends in … is a prefix.
func asShown(got, shown string) bool {
	plain := func(s string) []string {
		return strings.Split(strings.TrimSpace(gap.ReplaceAllString(varying.ReplaceAllString(s, "N"), "  ")), "\n")
	}
	gots, wants := plain(got), plain(shown)
	return slices.EqualFunc(gots, wants, func(got, want string) bool {
		got, want = strings.TrimRight(got, " "), strings.TrimRight(want, " ")
		if begin, cut := strings.CutSuffix(want, "…"); cut {
			return strings.HasPrefix(got, strings.TrimSpace(begin)) || strings.HasPrefix(got, strings.TrimRight(begin, " "))
		}
		return got == want
	})
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// quotedIn are the quoted names in a comment of a file, which begins and ends as
// given.
func quotedIn(t *testing.T, file, begin, end string) (names []string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), begin)
	comment, _, _ := strings.Cut(rest, end)
	for _, name := range regexp.MustCompile(`"([a-z-]+)"`).FindAllStringSubmatch(comment, -1) {
		names = append(names, name[1])
	}
	if len(names) == 0 {
		t.Fatalf("%s names nothing between %q and %q", file, begin, end)
	}
	return names
}

// keysOf are the names that a struct's fields have in a file.
func keysOf(v any, tag string) (keys []string) {
	t := reflect.TypeOf(v)
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get(tag), ","); name != "" && name != "-" {
			keys = append(keys, name)
		}
	}
	return keys
}

// constants are the texts of a package's constants by their names; there must be
// some.
func constants(t *testing.T, dir string, name *regexp.Regexp) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !name.MatchString(spec.Names[0].Name) {
				return true
			}
			if text, ok := spec.Values[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				value, _ := strconv.Unquote(text.Value)
				texts = append(texts, value)
			}
			return true
		})
	}
	if len(texts) == 0 {
		t.Fatalf("%s has no constant that matches %s", dir, name)
	}
	return texts
}
