package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/kinds"
)

// TestInitKinds checks what init writes for each kind of agent and each SDK, and runs the examples without one
// where their language is on this machine (H-02).
func TestInitKinds(t *testing.T) {
	needs := map[string]string{"program": "curl", "node": "node", "python": "python3", "go": "go"}
	for _, k := range starterKinds() {
		for _, sdk := range append([]string{""}, k.sdks...) {
			t.Run(k.name+" "+sdk, func(t *testing.T) {
				g := gomega.NewWithT(t)
				cache := goCache(t)
				t.Chdir(t.TempDir())
				args := []string{"init", "--kind", k.name}
				if sdk != "" {
					args = append(args, "--sdk", sdk)
				}
				rehearse := func(args ...string) (int, string) {
					var out bytes.Buffer
					return run(kinds.All(), args, strings.NewReader(""), &out, &out), out.String()
				}
				code, said := rehearse(args...)
				g.Expect(code).To(gomega.Equal(exitPass), said)
				code, said = rehearse("check")
				g.Expect(code).To(gomega.Equal(exitPass), said)
				if needs[k.name] == "" || sdk == "openai" || sdk == "anthropic" {
					return
				}
				if _, err := exec.LookPath(needs[k.name]); err != nil {
					t.Skipf("%s is not on this machine", needs[k.name])
				}
				if k.name == "go" {
					build := exec.Command("sh", "-c", goSetup(sdk)[0])
					build.Env = append(build.Environ(), "GOCACHE="+cache)
					out, err := build.CombinedOutput()
					g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
				}
				code, said = rehearse("run")
				g.Expect(code).To(gomega.Equal(exitPass), said)
			})
		}
	}
}

// TestInitFillIn checks that an HTTP application, which has no stand-in, fails until it is filled in, and that
// the file and the command say so.
func TestInitFillIn(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	g.Expect(run(kinds.All(), []string{"init", "--kind", "http"}, strings.NewReader(""), &out, &errs)).To(gomega.Equal(exitPass))
	g.Expect(errs.String()).To(gomega.ContainSubstring("fill in: the request and the answer"))
	g.Expect(run(kinds.All(), []string{"run"}, strings.NewReader(""), io.Discard, io.Discard)).NotTo(gomega.Equal(exitPass))
	files, err := filepath.Glob("*")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(files).To(gomega.ConsistOf(".gitignore", "scenarios", "rehearse-runs"))
}

func TestInitDetects(t *testing.T) {
	for name, tc := range map[string]struct {
		files          map[string]string
		kind, sdk, why string
	}{
		"nothing":             {nil, "program", "none", ""},
		"Node":                {map[string]string{"package.json": `{"name": "openai-bot"}`}, "node", "none", "there is a package.json"},
		"Node with OpenAI":    {map[string]string{"package.json": `{"dependencies": {"openai" : "5"}}`}, "node", "openai", "package.json requires openai"},
		"Node with Anthropic": {map[string]string{"package.json": `{"dependencies": {"@anthropic-ai/sdk": "1"}}`}, "node", "anthropic", "package.json requires anthropic"},
		"Python":              {map[string]string{"pyproject.toml": "dependencies = [\"openai>=1\"]\n"}, "python", "openai", "pyproject.toml requires openai"},
		"requirements":        {map[string]string{"requirements.txt": "flask\nanthropic==1\n"}, "python", "anthropic", "requirements.txt requires anthropic"},
		"Go":                  {map[string]string{"go.mod": "require github.com/sashabaranov/go-openai v1.0.0\n"}, "go", "openai", "go.mod requires openai"},
	} {
		t.Run(name, func(t *testing.T) {
			project := fstest.MapFS{}
			for file, text := range tc.files {
				project[file] = &fstest.MapFile{Data: []byte(text)}
			}
			kind, sdk, why := detectProject(project)
			gomega.NewWithT(t).Expect([]string{kind, sdk, why}).To(gomega.Equal([]string{tc.kind, tc.sdk, tc.why}))
		})
	}
}

// TestInitAsks checks the questions on a terminal.
func TestInitAsks(t *testing.T) {
	for name, tc := range map[string]struct {
		answers string
		want    initFlags
	}{
		"the proposal":   {"\n\n\n", initFlags{kind: "node", sdk: "none"}},
		"no more input":  {"", initFlags{kind: "node", sdk: "none"}},
		"a package":      {"\n\nopenia\nopenai\n", initFlags{kind: "node", sdk: "openai"}},
		"go":             {"go\n\n\n", initFlags{kind: "go", sdk: "none"}},
		"a number":       {"4\nsrc/agent.py\n", initFlags{kind: "python", program: "src/agent.py"}},
		"a name":         {" loop \nnot read\n", initFlags{kind: "loop"}},
		"another answer": {"99\nnod\nhttp\n\n", initFlags{kind: "http"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var flags initFlags
			var out bytes.Buffer
			g.Expect(askKind(t.Context(), input.Lines(strings.NewReader(tc.answers)), &out, fstest.MapFS{}, &flags, "node", "none", "there is a package.json")).To(gomega.Succeed())
			g.Expect(flags).To(gomega.Equal(tc.want))
			g.Expect(out.String()).To(gomega.ContainSubstring("[3, because there is a package.json]"))
			g.Expect(out.String()).To(gomega.ContainSubstring("\n   1  program   a program in any language"))
		})
	}
}

// TestInitProposesTheProgram checks the proposal of the program of a project.
func TestInitProposesTheProgram(t *testing.T) {
	project := fstest.MapFS{
		"package.json": {Data: []byte(`{"main": "lib/start.js"}`)}, "lib/start.js": {}, "agent.js": {}, "src/bot.py": {}, "src/agent.md": {},
	}
	for name, tc := range map[string]struct{ answers, want string }{
		"the proposal":    {"node\n\n", "lib/start.js"},
		"another program": {"node\nagent.js\n", "agent.js"},
		"an example":      {"node\n-\nopenai\n", ""},
		"Python":          {"python\n\n", "src/bot.py"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var flags initFlags
			g.Expect(askKind(t.Context(), input.Lines(strings.NewReader(tc.answers)), io.Discard, project, &flags, "node", "none", "")).To(gomega.Succeed())
			g.Expect(flags.program).To(gomega.Equal(tc.want))
		})
	}
}

// TestInitAsksNoPackage checks that a package that the project requires is not asked for.
func TestInitAsksNoPackage(t *testing.T) {
	g := gomega.NewWithT(t)
	var flags initFlags
	var out bytes.Buffer
	lines := input.Lines(strings.NewReader("\n\nanthropic\n"))
	g.Expect(askKind(t.Context(), lines, &out, fstest.MapFS{}, &flags, "node", "openai", "package.json requires openai")).To(gomega.Succeed())
	g.Expect(flags).To(gomega.Equal(initFlags{kind: "node"}))
	g.Expect(out.String()).NotTo(gomega.ContainSubstring("Package"))
}

func TestInitFindsModules(t *testing.T) {
	g := gomega.NewWithT(t)
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	g.Expect(os.MkdirAll(inner, 0o755)).To(gomega.Succeed())
	g.Expect(inModule(inner)).To(gomega.BeFalse())
	g.Expect(inModule(filepath.Join(inner, "new"))).To(gomega.BeFalse())
	g.Expect(os.WriteFile(filepath.Join(root, "go.mod"), []byte("module m\n"), 0o600)).To(gomega.Succeed())
	g.Expect(inModule(root)).To(gomega.BeTrue())
	g.Expect(inModule(filepath.Join(inner, "new"))).To(gomega.BeTrue())
}

func TestInitIgnores(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string
		added         bool
	}{
		"no file":         {"", "rehearse-runs/\n", true},
		"no line end":     {"a", "a\nrehearse-runs/\n", true},
		"there":           {"a\n/rehearse-runs\n", "a\n/rehearse-runs\n", false},
		"a longer name":   {"rehearse-runs-old/\n", "rehearse-runs-old/\nrehearse-runs/\n", true},
		"DOS line ends":   {"rehearse-runs/\r\n", "rehearse-runs/\r\n", false},
		"a commented-out": {"#rehearse-runs/\n", "#rehearse-runs/\nrehearse-runs/\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			after, added := ignoring(tc.before, []string{"rehearse-runs/"})
			g.Expect(after).To(gomega.Equal(tc.after))
			g.Expect(added).To(gomega.Equal(tc.added))
		})
	}
}

func TestSchemaURL(t *testing.T) {
	g := gomega.NewWithT(t)
	for version, ref := range map[string]string{"v1.2.3": "v1.2.3", "devel": "main", "v1.2.3-4-gabc": "main", "": "main"} {
		g.Expect(schemaURL(version)).To(gomega.Equal("https://raw.githubusercontent.com/rehearse-dev/rehearse/" + ref + "/schema/scenario.json"))
	}
}
