// Package layout holds no code: its test enforces which package of this module
// may import which, so that data keeps flowing one way (scenario, drive,
// recording, measure, gate, report).
package layout_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rehearse-dev/rehearse/"

// allowed lists, for each package of the module, the packages of the module that it may
// import; "*" is any. A trailing slash stands for a folder: of rows, the longest that fits a
// package holds. Packages under internal and redact may be imported by all, and import only
// each other.
//
// The order is that of the data: what is further down may import what is above it. The core
// names no agent; a kind adapts an agent to the core; kinds and cmd assemble everything.
var allowed = map[string][]string{
	"clock":     {},
	"event":     {},
	"stat":      {},
	"fixtures":  {},
	"schema":    {},
	"skills":    {},
	"internal/": {"internal/", "redact"},
	"redact":    {"internal/"},

	"llm":       {},
	"llm/":      {"llm", "clock"},
	"llm/price": {"llm", "fixtures"},

	"mocks/wire":    {"llm"},
	"mocks/tape":    {},
	"mocks":         {"llm", "clock", "mocks/wire", "mocks/tape"},
	"mocks/mcp":     {"clock", "mocks"},
	"mocks/agent":   {"llm", "clock", "mocks", "mocks/wire"},
	"mocks/capture": {"llm", "clock", "mocks", "mocks/wire", "mocks/tape"},

	"scenarios/expect":      {},
	"scenarios/keyword":     {},
	"scenarios/perturb":     {"mocks", "mocks/mcp"},
	"scenarios/requirement": {},
	"scenarios/user":        {"mocks"},
	"scenarios":             {"llm", "llm/price", "mocks", "mocks/mcp", "scenarios/expect", "scenarios/keyword", "scenarios/perturb", "scenarios/requirement", "scenarios/user"},

	"harness/record": {"llm", "llm/price", "clock", "event", "scenarios/expect"},
	"harness/shard":  {"harness/record"},
	"harness/judge":  {"llm", "stat"},
	"harness/app/":   {"clock", "event", "harness/app", "harness/app/", "harness/record"},
	"harness/app":    {"clock", "event"},
	"harness/drive": {
		"llm", "llm/", "clock", "event", "mocks", "mocks/agent", "mocks/mcp", "scenarios", "scenarios/", "harness/record", "harness/app",
		"harness/judge",
	},
	"harness/measure":       {"llm", "llm/price", "stat", "event", "harness/record"},
	"harness/gate":          {"event", "harness/record", "harness/measure", "scenarios/expect"},
	"harness/compare":       {"stat", "harness/record", "harness/measure", "harness/gate"},
	"harness/detect":        {"llm", "clock", "stat"},
	"harness/label":         {"harness/detect"},
	"harness/incident":      {"event", "llm", "llm/price", "mocks", "mocks/capture", "mocks/mcp", "scenarios", "harness/record"},
	"harness/drift":         {"llm", "clock", "mocks/wire", "mocks/capture", "mocks/tape"},
	"harness/kind":          {"harness/drive", "harness/gate", "harness/measure", "harness/record", "mocks/agent", "mocks/mcp", "scenarios"},
	"harness/kind/function": core,
	"harness":               append([]string{"harness/kind/function"}, core...),
	"harness/explore":       append([]string{"harness"}, core...),
	"harness/experiment":    append([]string{"harness"}, core...),
	"harness/result":        {"harness/gate", "harness/measure"},
	"harness/match":         {"harness", "harness/detect", "harness/gate", "harness/measure", "stat"},

	"history":  {"stat", "harness/compare", "harness/gate", "harness/measure"},
	"history/": {"stat", "harness/compare", "harness/gate", "history"},

	"queue": {"clock", "harness", "harness/drive", "harness/record", "llm", "llm/openai"},

	"reports/diff": {},
	"reports/doc":  {"reports/diff"},
	"reports/plot": {"stat", "harness/measure", "harness/result", "reports/doc"},
	"reports": {
		"stat", "harness/compare", "harness/detect", "harness/drift", "harness/gate", "harness/measure", "harness/record",
		"harness/result", "history", "llm/price", "reports/diff", "reports/doc", "reports/plot", "reports/trace",
	},
	"reports/trace":    {"harness/gate", "reports/doc", "scenarios/requirement"},
	"reports/evidence": {"harness/record", "history", "reports"},
	"reports/export":   {"event", "llm", "harness/record", "harness/measure", "harness/gate"},
	"reports/rundir": {
		"harness", "harness/compare", "harness/gate", "harness/measure", "harness/record", "harness/result", "harness/shard", "history",
		"reports", "reports/",
	},
	"reports/page": {
		"event", "llm", "harness/record", "harness/measure", "harness/gate", "harness/compare", "harness/result",
		"harness/detect", "reports", "reports/",
	},

	"view": {
		"clock", "harness/compare", "harness/gate", "harness/measure", "harness/record", "history", "history/", "reports", "reports/doc", "reports/page",
		"reports/rundir",
	},

	"agents/": {"agents/", "llm", "clock", "event", "stat", "fixtures"},

	"agents/interview/kind": append([]string{"reports/doc", "reports/plot"}, adapts...),
	"agents/loop/kind":      append([]string{"reports/doc"}, adapts...),
	"agents/persist/kind":   append([]string{"reports/doc"}, adapts...),
	"agents/react/kind":     append([]string{"reports/doc"}, adapts...),
	"agents/stop/kind":      adapts,
	"harness/kind/":         adapts,

	"kinds":          {"agents/", "harness/gate", "harness/kind", "harness/kind/"},
	"kinds/evaluate": {"agents/", "llm", "llm/", "clock", "fixtures", "harness/detect", "reports"},
	"cli":            {"*"},
	"cli/config":     {"agents/loop", "scenarios/requirement"},
	"cmd/":           {"cli", "kinds"},
	"tools/":         {"clock", "harness/", "kinds/evaluate", "reports", "reports/", "scenarios/requirement"},
	"tools/fit":      {"agents/stop", "agents/stop/kind", "agents/stop/train", "clock", "fixtures", "harness/detect", "kinds/evaluate"},
	"test/":          {"test/"},
	"examples/":      {},
}

// core lists the imports that a package of the harness may have if it drives scenarios.
var core = []string{
	"clock", "event", "llm", "llm/", "mocks", "mocks/mcp", "stat", "scenarios", "scenarios/expect", "scenarios/perturb", "harness/app", "harness/drive",
	"harness/gate", "harness/kind", "harness/measure", "harness/record", "harness/result",
}

// adapts lists the imports that a kind of agent may have: the core and the package that it adapts.
var adapts = append([]string{
	"agents/", "fixtures", "harness/app/", "harness/detect", "harness/kind/",
}, core...)

func TestImports(t *testing.T) {
	seen := 0
	walk(t, "../..", func(pkg, file string, imports []string) {
		seen++
		for _, imported := range imports {
			if err := check(pkg, imported); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	})
	if seen == 0 {
		t.Fatal("no Go files were read, so nothing was checked")
	}
}

// TestCheckRefuses shows that the check can fail.
func TestCheckRefuses(t *testing.T) {
	for pkg, imported := range map[string]string{
		"agents/loop": "harness/record", // agents know no harness
		"mocks":       "agents/loop",    // mocks know no agent
		"reports":     "agents/loop",    // reports start nothing
		"llm":         "clock",
		"unlisted":    "llm",
		"internal/x":  "llm",
		"scenarios":   "agents/loop", // the core knows no agent
		"harness":     "agents/loop/kind",
		"mocks/wire":  "harness/record",
	} {
		if check(pkg, imported) == nil {
			t.Errorf("%s may import %s, and should not", pkg, imported)
		}
	}
}

// check says why pkg may not import the package imported, both relative to the
// module.
func check(pkg, imported string) error {
	row, ok := rowOf(pkg)
	if !ok {
		return fmt.Errorf("package %s has no row in the import table", pkg)
	}
	shared := imported == "redact" || strings.HasPrefix(imported, "internal/")
	if shared && !strings.HasPrefix(row, "internal/") {
		return nil
	}
	for _, rule := range allowed[row] {
		if rule == "*" || rule == imported || strings.HasSuffix(rule, "/") && strings.HasPrefix(imported, rule) {
			return nil
		}
	}
	return fmt.Errorf("%s may not import %s", pkg, imported)
}

// rowOf returns the row that holds for a package: its own, or that of the innermost folder.
func rowOf(pkg string) (row string, ok bool) {
	if _, own := allowed[pkg]; own {
		return pkg, true
	}
	for folder := path.Dir(pkg); folder != "."; folder = path.Dir(folder) {
		if _, ok := allowed[folder+"/"]; ok {
			return folder + "/", true
		}
	}
	return "", false
}

// walk calls visit with each non-test Go file below root and its imports of this
// module. Folders with their own go.mod are other modules and passed over.
func walk(t *testing.T, root string, visit func(pkg, file string, imports []string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipFolder(root, file, entry.Name())
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if rest, ok := strings.CutPrefix(name, module); ok {
				imports = append(imports, rest)
			}
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		visit(path.Dir(filepath.ToSlash(rel)), filepath.ToSlash(rel), imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func skipFolder(root, folder, name string) error {
	if folder == root {
		return nil
	}
	if slices.Contains([]string{".git", "testdata", "node_modules"}, name) {
		return fs.SkipDir
	}
	if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}
