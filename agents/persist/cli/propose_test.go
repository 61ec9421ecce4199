package cli_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

func TestCLI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/cli")
}

// files returns a folder of files, with the text after the first line break of each.
func files(texts map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// commands returns the command lines of the proposed checks.
func commands(p cli.Proposal) map[plan.Check]string {
	all := make(map[plan.Check]string)
	for name, probe := range p.Checks {
		if len(probe.Command) > 0 {
			all[name] = strings.Join(probe.Command, " ")
		}
	}
	return all
}

const (
	unittests  = "import unittest\n\nclass XTest(unittest.TestCase):\n    def test_x(self):\n        self.assertEqual(1, 2)\n"
	compileall = `python3 -m compileall -q -x [/\\](\.?venv|\.git|\.tox|node_modules)[/\\] .`
)

var _ = Describe("A proposal", func() {
	DescribeTable("recognises", func(texts map[string]string, kind string, want map[plan.Check]string) {
		p := cli.Propose(files(texts))
		Expect(p.Kinds).To(Equal([]string{kind}))
		Expect(commands(p)).To(Equal(want))
		Expect(p.Checks).To(HaveKey(plan.CheckFeatures))
	},
		Entry("Go", map[string]string{"go.mod": "module x"}, "Go", map[plan.Check]string{
			plan.CheckCompile: "go build -o /dev/null ./...", plan.CheckTests: "go test ./...", plan.CheckValidation: "go vet ./...",
		}),
		Entry("Go with a linter", map[string]string{"go.mod": "module x", ".golangci.yml": ""}, "Go", map[plan.Check]string{
			plan.CheckCompile: "go build -o /dev/null ./...", plan.CheckTests: "go test ./...", plan.CheckValidation: "golangci-lint run",
		}),
		Entry("Node with npm", map[string]string{"package.json": `{"scripts": {"test": "node --test", "lint": "eslint .", "build": "vite build"}}`},
			"Node with npm", map[plan.Check]string{plan.CheckCompile: "npm run build", plan.CheckTests: "npm run test", plan.CheckValidation: "npm run lint"}),
		Entry("Node with pnpm by its lock file, and TypeScript", map[string]string{"package.json": `{"scripts": {"test": "vitest run"}}`, "pnpm-lock.yaml": "", "tsconfig.json": "{}"},
			"Node with pnpm and TypeScript", map[plan.Check]string{plan.CheckCompile: "pnpm exec tsc --noEmit", plan.CheckTests: "pnpm run test"}),
		Entry("Node with yarn by its manifest", map[string]string{"package.json": `{"packageManager": "yarn@4.1.0", "scripts": {"typecheck": "tsc -b"}}`, "package-lock.json": "", "tsconfig.json": "{}"},
			"Node with yarn and TypeScript", map[plan.Check]string{plan.CheckCompile: "yarn run typecheck"}),
		Entry("Node with npm and TypeScript", map[string]string{"package.json": `{}`, "tsconfig.json": "{}"},
			"Node with npm and TypeScript", map[plan.Check]string{plan.CheckCompile: "npx --no-install tsc --noEmit"}),
		Entry("Node with the tests that npm init writes", map[string]string{"package.json": `{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`},
			"Node with npm", map[plan.Check]string{}),
		Entry("Node with tests that watch", map[string]string{"package.json": `{"scripts": {"test": "jest --watch", "test:ci": "jest"}}`},
			"Node with npm", map[plan.Check]string{plan.CheckTests: "npm run test:ci"}),
		Entry("Python with pytest", map[string]string{"pyproject.toml": "[project]\nname = \"x\"\n[tool.pytest.ini_options]\n[tool.mypy]\n[tool.ruff.lint]\n"},
			"Python with pytest", map[plan.Check]string{plan.CheckCompile: "python3 -m mypy .", plan.CheckTests: "python3 -m pytest -q", plan.CheckValidation: "ruff check ."}),
		Entry("Python by its requirements", map[string]string{"requirements.txt": "flask==3\npytest>=8\n"},
			"Python with pytest", map[plan.Check]string{plan.CheckCompile: `python3 -m compileall -q -x [/\\](\.?venv|\.git|\.tox|node_modules)[/\\] .`, plan.CheckTests: "python3 -m pytest -q"}),
		Entry("Python with uv and no pytest", map[string]string{"pyproject.toml": "[project]", "uv.lock": "", "tests/test_x.py": unittests},
			"Python with uv", map[plan.Check]string{plan.CheckCompile: `uv run python3 -m compileall -q -x [/\\](\.?venv|\.git|\.tox|node_modules)[/\\] .`, plan.CheckTests: "uv run python3 -m unittest discover -q -s tests"}),
		Entry("Python with tests that unittest would not find", map[string]string{"pyproject.toml": "[project]", "tests/test_x.py": "def test_x():\n    assert 1 == 2\n"},
			"Python with pytest", map[plan.Check]string{plan.CheckCompile: compileall, plan.CheckTests: "python3 -m pytest -q"}),
		Entry("Python with tests in a package", map[string]string{"setup.py": "", "test/__init__.py": "", "test/test_x.py": unittests},
			"Python", map[plan.Check]string{plan.CheckCompile: compileall, plan.CheckTests: "python3 -m unittest discover -q -s test -t ."}),
		Entry("Python with tests beside the code", map[string]string{"setup.py": "", "x_test.py": unittests},
			"Python", map[plan.Check]string{plan.CheckCompile: compileall, plan.CheckTests: "python3 -m unittest discover -q -p *_test.py"}),
		Entry("Python with a folder for tests and none in it", map[string]string{"setup.py": "", "tests/helper.py": "", "tests/test_data.py": "x = 1"},
			"Python", map[plan.Check]string{plan.CheckCompile: compileall}),
		Entry("Rust", map[string]string{"Cargo.toml": "[package]\nname = \"x\"\n"}, "Rust", map[plan.Check]string{
			plan.CheckCompile: "cargo check --all-targets", plan.CheckTests: "cargo test",
		}),
		Entry("a Rust workspace with clippy", map[string]string{"Cargo.toml": "[workspace]\nmembers = []\n[workspace.lints.clippy]\nall = \"deny\"\n"}, "Rust", map[plan.Check]string{
			plan.CheckCompile: "cargo check --all-targets --workspace", plan.CheckTests: "cargo test --workspace", plan.CheckValidation: "cargo clippy --all-targets --workspace",
		}),
		Entry("what a Makefile calls the whole check", map[string]string{"go.mod": "", "Makefile": "checker := x\n.PHONY: check\ncheck: test\n\tgo vet\n"}, "Go", map[plan.Check]string{
			plan.CheckCompile: "go build -o /dev/null ./...", plan.CheckTests: "go test ./...", plan.CheckValidation: "make check",
		}),
	)

	It("puts several projects together", func() {
		p := cli.Propose(files(map[string]string{
			"go.mod": "module x", "my web/package.json": `{"scripts": {"test": "vitest run"}}`, "my web/tsconfig.json": "{}",
			"node_modules/x/package.json": "{}", ".hidden/go.mod": "", "testdata/go.mod": "",
		}))
		Expect(p.Kinds).To(Equal([]string{"Go", "Node with npm and TypeScript in my web"}))
		Expect(p.Checks[plan.CheckCompile].Command).To(Equal([]string{"sh", "-c", "go build -o /dev/null ./... && (cd './my web' && npx --no-install tsc --noEmit)"}))
		Expect(p.Checks[plan.CheckValidation].Command).To(Equal([]string{"go", "vet", "./..."}))
		Expect(p.Checks[plan.CheckFeatures].In).To(ContainElements("**/*.go", "my web/**/*.ts"))
	})

	It("finds a list of todos, if it has checkboxes", func() {
		Expect(cli.Propose(files(map[string]string{"TODO.md": "# x\n- [ ] a\n"})).Checks).To(HaveKeyWithValue(plan.CheckTodos, plan.Probe{File: "TODO.md"}))
		Expect(cli.Propose(files(map[string]string{"TODO.md": "- a\n"})).Checks).To(BeEmpty())
	})

	DescribeTable("has a note about", func(texts map[string]string, note string) {
		p := cli.Propose(files(texts))
		Expect(p.Notes).To(ContainElement(ContainSubstring(note)))
		_, found := plan.Parse("plan.yaml", []byte(p.StarterPlan("x")))
		Expect(found).To(BeEmpty())
	},
		Entry("a malformed package.json", map[string]string{"package.json": `{"scripts": `}, "package.json: cannot be parsed, so no checks are proposed for Node: unexpected end of JSON input"),
		Entry("scripts of another type", map[string]string{"package.json": `{"scripts": [1]}`}, "package.json: cannot be parsed"),
		Entry("a package.json that is too large", map[string]string{"web/package.json": strings.Repeat(" ", 2<<20)}, "web/package.json: cannot be read, so it is ignored: the file is too large"),
		Entry("tests that never end", map[string]string{"package.json": `{"scripts": {"test": "jest --watchAll"}}`}, "package.json: the script test watches files"),
		Entry("no tests", map[string]string{"package.json": `{}`}, "Node with npm: no command for the check tests was found"),
		Entry("a workspace of Go", map[string]string{"go.work": "use ./a", "a/go.mod": ""}, "go.work: the modules of a workspace are checked one by one"),
	)

	It("finds nothing in an empty folder, and does not fail in one that cannot be read", func() {
		p := cli.Propose(files(nil))
		Expect(p.Kinds).To(BeEmpty())
		Expect(p.Checks).To(BeEmpty())
		Expect(cli.Propose(broken{}).Kinds).To(BeEmpty())
		p = cli.Propose(os.DirFS(GinkgoT().TempDir()))
		Expect(p.Checks).To(BeEmpty())
	})

	It("takes a folder of the name of a file for no file", func() {
		Expect(cli.Propose(files(map[string]string{"package.json/x": "", "go.mod/x": ""})).Kinds).To(BeEmpty())
	})
})

type broken struct{}

func (broken) Open(string) (fs.File, error) { return nil, errors.New("broken") }

var _ = Describe("the starter plan", func() {
	DescribeTable("is this text, which loads with the proposed checks", func(name string, texts map[string]string) {
		p := cli.Propose(files(texts))
		text := p.StarterPlan("My Project!")
		loaded, found := plan.Parse("plan.yaml", []byte(text))
		Expect(found).To(BeEmpty())
		Expect(loaded.Name).To(Equal("my-project"))
		if len(p.Checks) > 0 {
			Expect(loaded.Checks).To(Equal(p.Checks))
		}
		golden.Expect(name+".yaml", []byte(text))
	},
		Entry("a folder with several projects", "several", map[string]string{
			"go.mod": "module x", "web/package.json": `{"scripts": {"test": "vitest run"}}`, "tool/pyproject.toml": "[tool.pytest]", "TODO.md": "- [ ] a\n",
		}),
		Entry("an empty folder", "nothing", nil),
	)

	DescribeTable("has a valid name derived from that of the folder",
		func(folder, want string) {
			loaded, found := plan.Parse("plan.yaml", []byte(cli.Proposal{}.StarterPlan(folder)))
			Expect(found).To(BeEmpty())
			Expect(loaded.Name).To(Equal(want))
		},
		Entry("which is valid", "shop", "shop"),
		Entry("with a space and capitals", "My Shop", "my-shop"),
		Entry("which is hidden", ".hidden", "hidden"),
		Entry("which is the root", "/", "project"),
		Entry("with accents", "été", "t"),
		Entry("without a Latin letter", "日本", "project"),
		Entry("which is too long", strings.Repeat("x", 70), strings.Repeat("x", 64)),
	)

	It("loads, whatever the folder holds and is called", func() {
		name := rapid.SampledFrom([]string{
			"go.mod", "go.work", "package.json", "tsconfig.json", "pyproject.toml", "requirements.txt", "Cargo.toml", "Makefile", "TODO.md", "uv.lock", "pnpm-lock.yaml", "conftest.py",
		})
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"{}", `{"scripts": {"test": "x", "lint": "y", "build": "z"}}`, "[tool.mypy]\n[tool.ruff]\n[tool.pytest]", "[workspace]\n[lints.clippy]", "- [ ] a\n", "check:\n",
		}))
		dir := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[^/\x00]{1,8}/`))
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			fsys := fstest.MapFS{}
			for range rapid.IntRange(0, 6).Draw(t, "files") {
				at := dir.Draw(t, "dir") + name.Draw(t, "name")
				if fs.ValidPath(at) {
					fsys[at] = &fstest.MapFile{Data: []byte(text.Draw(t, "text"))}
				}
			}
			p := cli.Propose(fsys)
			loaded, found := plan.Parse("plan.yaml", []byte(p.StarterPlan(rapid.String().Draw(t, "called"))))
			if len(found) > 0 {
				t.Fatalf("%v\n%s", found, p.StarterPlan("x"))
			}
			if len(loaded.Checks) != len(p.Checks) {
				t.Fatalf("%v are not %v", loaded.Checks, p.Checks)
			}
		})
	})
})
