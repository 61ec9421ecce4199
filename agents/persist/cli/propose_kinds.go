package cli

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

var (
	checkbox   = lazyregexp.New(`(?m)^\s*(?:[-*+]|\d+[.)])\s+\[[ xX~/]\]\s`)
	makeTarget = lazyregexp.New(`(?m)^(check|ci|verify|validate)\s*:(?:[^=]|$)`)
)

func recogniseGo(f *folder) *project {
	if !f.has("go.mod") {
		if f.has("go.work") {
			f.note("go.work", "the modules of a workspace are checked one by one; checks are proposed for those in direct subfolders")
		}
		return nil
	}
	p := &project{kind: "Go", sources: []string{"**/*.go"}, commands: map[plan.Check][]string{
		// If the only package is a command, go build would write its program.
		plan.CheckCompile:    {"go", "build", "-o", "/dev/null", "./..."},
		plan.CheckTests:      {"go", "test", "./..."},
		plan.CheckValidation: {"go", "vet", "./..."},
	}}
	if f.has(".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json") {
		p.commands[plan.CheckValidation] = []string{"golangci-lint", "run"}
	}
	return p
}

func recogniseRust(f *folder) *project {
	text, ok := f.read("Cargo.toml")
	if !ok {
		return nil
	}
	var all []string
	if section(text, `workspace`) {
		all = []string{"--workspace"}
	}
	p := &project{kind: "Rust", sources: []string{"**/*.rs"}, commands: map[plan.Check][]string{
		plan.CheckCompile: slices.Concat([]string{"cargo", "check", "--all-targets"}, all),
		plan.CheckTests:   slices.Concat([]string{"cargo", "test"}, all),
	}}
	if f.has("clippy.toml", ".clippy.toml") || section(text, `(workspace\.)?lints\.clippy`) {
		p.commands[plan.CheckValidation] = slices.Concat([]string{"cargo", "clippy", "--all-targets"}, all)
	}
	return p
}

// section reports whether a TOML file has a table whose name matches the pattern.
func section(text, pattern string) bool {
	found, err := regexp.MatchString(`(?m)^\s*\[\[?\s*`+pattern+`[\].]`, text)
	return err == nil && found
}

func recognisePython(f *folder) *project {
	pyproject, _ := f.read("pyproject.toml")
	needs, _ := f.read("requirements.txt")
	dev, _ := f.read("requirements-dev.txt")
	if !f.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini", "pytest.ini") {
		return nil
	}
	kind, run := pythonRunner(f)
	p := &project{kind: kind, sources: []string{"**/*.py"}, commands: map[plan.Check][]string{
		// It compiles all files that it finds, so libraries are excluded.
		plan.CheckCompile: slices.Concat(run, []string{
			"python3", "-m", "compileall", "-q", "-x", `[/\\](\.?venv|\.git|\.tox|node_modules)[/\\]`, ".",
		}),
	}}
	if section(pyproject, `tool\.mypy`) || f.has("mypy.ini", ".mypy.ini") {
		p.commands[plan.CheckCompile] = slices.Concat(run, []string{"python3", "-m", "mypy", "."})
	}
	tests := findPythonTests(f)
	switch names := regexp.MustCompile(`(?im)^\s*["']?pytest\b|["']pytest\b`); {
	case tests.pytest, section(pyproject, `tool\.pytest`), f.has("pytest.ini", "conftest.py"),
		names.MatchString(pyproject + "\n" + needs + "\n" + dev):
		p.kind += " with pytest"
		p.commands[plan.CheckTests] = slices.Concat(run, []string{"python3", "-m", "pytest", "-q"})
	case tests.discover != nil:
		p.commands[plan.CheckTests] = slices.Concat(run, []string{"python3", "-m", "unittest", "discover", "-q"}, tests.discover)
	}
	if section(pyproject, `tool\.ruff`) || f.has("ruff.toml", ".ruff.toml") {
		p.commands[plan.CheckValidation] = slices.Concat(run, []string{"ruff", "check", "."})
	}
	return p
}

// pythonRunner returns the command that runs Python with the libraries of the project.
func pythonRunner(f *folder) (kind string, run []string) {
	switch {
	case f.has("uv.lock"):
		return "Python with uv", []string{"uv", "run"}
	case f.has("poetry.lock"):
		return "Python with Poetry", []string{"poetry", "run"}
	case f.has("Pipfile"):
		return "Python with Pipenv", []string{"pipenv", "run"}
	}
	return "Python", nil
}

// manifest is the relevant part of a package.json.
type manifest struct {
	Scripts        map[string]string `json:"scripts"`
	PackageManager string            `json:"packageManager"`
}

func recogniseNode(f *folder) *project {
	text, ok := f.read("package.json")
	if !ok {
		return nil
	}
	var m manifest
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		f.note("package.json", "cannot be parsed, so no checks are proposed for Node: %v", err)
		return nil
	}
	manager := packageManager(f, m)
	typed := f.has("tsconfig.json")
	p := &project{
		kind: "Node with " + manager, commands: make(map[plan.Check][]string),
		sources: []string{"**/*.js", "**/*.jsx", "**/*.mjs", "**/*.cjs"},
	}
	if typed {
		p.kind += " and TypeScript"
		p.sources = append(p.sources, "**/*.ts", "**/*.tsx")
	}
	script := func(names ...string) []string {
		for _, name := range names {
			if m.Scripts[name] != "" {
				return []string{manager, "run", name}
			}
		}
		return nil
	}
	p.commands[plan.CheckCompile] = script("typecheck", "type-check", "check-types", "check:types", "tsc")
	if p.commands[plan.CheckCompile] == nil && typed {
		p.commands[plan.CheckCompile] = append(execute(manager), "tsc", "--noEmit")
	}
	if p.commands[plan.CheckCompile] == nil {
		p.commands[plan.CheckCompile] = script("build")
	}
	p.commands[plan.CheckTests] = nodeTests(f, m, script)
	p.commands[plan.CheckValidation] = script("validate", "check", "lint")
	return p
}

// nodeTests returns the test script, unless it is the placeholder of `npm init`.
func nodeTests(f *folder, m manifest, script func(...string) []string) []string {
	text := m.Scripts["test"]
	switch {
	case strings.Contains(text, "no test specified"):
		return nil
	case strings.Contains(text, "--watch") && !strings.Contains(text, "--watch=false") && !strings.Contains(text, "--watchAll=false"):
		if run := script("test:ci", "test:run", "ci:test"); run != nil {
			return run
		}
		f.note("package.json", "the script test watches files and never ends, so it is not proposed; write one that runs once")
		return nil
	}
	return script("test")
}

// packageManager returns the manager in the manifest, or the one whose lock file exists.
func packageManager(f *folder, m manifest) string {
	known := []string{"npm", "pnpm", "yarn", "bun"}
	name, _, _ := strings.Cut(m.PackageManager, "@")
	if !slices.Contains(known, name) {
		name = ""
	}
	locks := ""
	for _, lock := range []struct{ file, manager string }{
		{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}, {"package-lock.json", "npm"},
	} {
		if locks == "" && f.has(lock.file) {
			locks = lock.manager
		}
	}
	return cmp.Or(name, locks, "npm")
}

// execute returns the command that runs a program of the project's libraries without downloading it.
func execute(manager string) []string {
	switch manager {
	case "npm":
		return []string{"npx", "--no-install"}
	case "bun":
		return []string{"bun", "x", "--no-install"}
	}
	return []string{manager, "exec"}
}
