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

// allowed lists, for each package of the module, the packages of the module that
// it may import; "*" is any. A trailing slash admits everything below. Packages
// under internal/ (without a row of their own), and redact, may be imported by all and import
// only each other.
var allowed = map[string][]string{
	"redact":                           {},
	"llm":                              {},
	"llm/genai":                        {"llm"},
	"llm/budget":                       {"llm"},
	"llm/openai":                       {"llm", "clock"},
	"llm/cli":                          {"llm", "clock"},
	"llm/backends":                     {"llm", "llm/openai", "llm/cli"},
	"llm/price":                        {"llm", "fixtures"},
	"llm/token":                        {"llm"},
	"clock":                            {},
	"event":                            {},
	"stat":                             {},
	"fixtures":                         {},
	"agents/internal/glob":             {},
	"agents/internal/answers":          {},
	"agents/internal/run":              {"llm", "llm/budget", "clock", "event"},
	"agents/internal/completion":       {"llm"},
	"agents/internal/call":             {"llm", "llm/budget", "clock"},
	"agents/internal/guard":            {},
	"agents/internal/status":           {},
	"agents/internal/transcript":       {},
	"agents/loop/cli":                  {"agents/loop", "agents/internal/transcript", "event", "llm"},
	"agents/interview/cli":             {"agents/interview", "agents/interview/", "clock", "llm"},
	"agents/react/cli":                 {"agents/react", "agents/react/", "agents/internal/transcript", "fixtures", "clock", "event"},
	"agents/persist/cli":               {"agents/persist", "agents/persist/", "agents/react", "agents/react/", "clock", "event", "llm", "llm/budget"},
	"agents/loop":                      {"agents/internal/", "llm", "llm/budget", "clock", "event", "agents/stop"},
	"agents/stop":                      {"agents/stop/internal/"},
	"agents/stop/hook":                 {"agents/stop", "clock"},
	"agents/stop/hook/host":            {"agents/stop/hook"},
	"agents/stop/internal/text":        {},
	"agents/stop/internal/grammar":     {"agents/stop/internal/text"},
	"agents/stop/internal/match":       {"agents/stop/internal/text"},
	"agents/interview":                 {"agents/interview/", "agents/internal/", "llm", "llm/budget", "clock", "event"},
	"agents/interview/session":         {"llm"},
	"agents/interview/flow":            {"agents/interview/session", "agents/interview/titles", "llm"},
	"agents/interview/titles":          {},
	"agents/interview/validate":        {"agents/interview/session", "agents/interview/titles", "agents/interview/validate/"},
	"agents/interview/validate/zones":  {},
	"agents/interview/prompt":          {"agents/interview/session", "agents/interview/flow", "agents/interview/validate", "fixtures", "llm"},
	"agents/interview/store":           {"agents/interview/session", "llm"},
	"agents/interview/store/storetest": {"agents/interview/session", "agents/interview/store", "llm"},
	"agents/interview/web":             {"agents/interview", "agents/interview/session", "agents/interview/web/", "llm", "clock", "event"},
	"agents/interview/web/page":        {"agents/interview/session", "llm"},
	"agents/interview/web/telemetry":   {"agents/interview/session", "llm", "llm/genai", "clock", "event"},
	"agents/interview/web/otlp":        {},
	"agents/interview/web/wire":        {"agents/interview", "agents/interview/session"},
	"agents/interview/audit":           {"agents/interview/session", "llm", "stat"},
	"agents/interview/audit/report":    {"agents/interview/audit", "agents/interview/session", "reports/doc", "reports/plot"},
	"agents/persist":                   {"agents/persist/check", "agents/persist/plan", "agents/persist/journal", "agents/persist/state", "agents/persist/window", "agents/internal/", "agents/stop", "llm", "llm/budget", "clock", "event"},
	"agents/persist/check":             {},
	"agents/persist/check/probe":       {"agents/internal/", "agents/persist/check", "agents/persist/plan", "clock"},
	"agents/persist/plan":              {"agents/internal/", "agents/loop", "agents/persist/check", "llm/budget"},
	"agents/persist/plan/propose":      {"agents/persist/check", "agents/persist/plan"},
	"agents/persist/journal":           {},
	"agents/persist/journal/storetest": {"agents/persist/journal"},
	"agents/persist/state":             {"agents/persist/check", "agents/persist/plan", "agents/persist/window", "agents/stop"},
	"agents/persist/window":            {},
	"agents/persist/work":              {"agents/persist", "agents/persist/plan", "agents/loop", "agents/react", "agents/react/", "agents/internal/", "llm", "llm/budget", "clock", "event"},
	"agents/react":                     {"agents/react/", "agents/internal/", "llm", "llm/budget", "clock", "event", "agents/stop"},
	"agents/react/step":                {},
	"agents/react/verify":              {"agents/react/step"},
	"agents/react/reflect":             {},
	"agents/react/agentfile":           {},
	"agents/react/action":              {"agents/internal/", "agents/react/agentfile", "clock"},
	"mocks":                            {"llm", "clock", "mocks/wire", "mocks/tape"},
	"mocks/tape":                       {},
	"mocks/wire":                       {"llm"},
	"mocks/agent":                      {"llm", "clock", "mocks", "mocks/wire"},
	"scenarios":                        {"llm", "llm/price", "mocks", "scenarios/expect", "scenarios/perturb"},
	"scenarios":                        {"llm", "llm/price", "mocks", "mocks/wire", "mocks/agent", "fixtures", "agents/loop", "agents/stop/", "agents/interview/", "agents/persist", "agents/persist/", "agents/react", "agents/react/", "scenarios/expect", "scenarios/cast", "scenarios/perturb"},
	"scenarios/filekind":               {},
	"scenarios/expect":                 {},
	"scenarios/perturb":                {"mocks"},
	"agents/interview/kind/cast":       {"fixtures", "mocks", "agents/interview/session"},
	"scenarios/cast":                   {"fixtures", "mocks", "agents/interview/session", "agents/interview/flow"},
	"harness/record":                   {"llm", "llm/price", "clock", "event", "scenarios/expect"},
	"harness/drive":                    {"llm", "llm/", "clock", "event", "mocks", "mocks/agent", "scenarios", "scenarios/", "harness/record", "harness/app", "harness/app/egress", "harness/judge"},
	"harness/app":                      {"clock"},
	"harness/app/command":              {"harness/app", "harness/app/egress", "clock"},
	"harness/app/web":                  {"harness/app", "harness/app/command", "harness/app/egress", "clock"},
	"harness/app/container":            {"harness/app", "harness/app/web", "harness/app/egress", "clock"},
	"harness/app/coding":               {"harness/app", "harness/app/command", "harness/app/egress", "clock", "llm", "llm/cli", "agents/stop/hook", "agents/stop/hook/host", "agents/stop"},
	"harness/app/egress":               {},
	"harness/app/apptest":              {"harness/app", "clock", "mocks", "mocks/wire", "llm", "harness/record"},
	"harness/match":                    {"harness", "harness/", "stat"},
	"harness/judge":                    {"llm", "llm/budget", "stat", "clock", "harness/corpus"},
	"harness/experiment":               {"harness", "harness/", "scenarios", "scenarios/", "mocks", "clock", "stat", "llm", "llm/"},
	"harness/experiment/result":        {"stat", "harness/measure", "harness/record"},
	"harness/drift":                    {"llm", "clock", "mocks", "mocks/wire", "mocks/capture", "mocks/tape"},
	"mocks/capture":                    {"llm", "clock", "mocks", "mocks/wire", "mocks/tape"},
	"reports/experiments":              {"stat", "harness/experiment/result", "reports", "reports/page", "reports/plot", "harness/gate", "harness/measure", "harness/record"},
	"harness/experiment/result":        {"stat", "harness/gate", "harness/measure", "harness/record"},
	"harness/drift":                    {"llm", "clock", "mocks", "mocks/wire", "mocks/capture", "mocks/tape", "harness/record"},
	"mocks/capture":                    {"llm", "clock", "mocks", "mocks/wire", "harness/record", "mocks/tape"},
	"reports/experiments":              {"harness/experiment/result", "harness/measure", "reports", "reports/doc", "reports/plot"},
	"harness/measure":                  {"llm", "llm/price", "stat", "event", "harness/record"},
	"harness/gate":                     {"stat", "event", "harness/record", "harness/measure", "scenarios/expect"},
	"harness/survival":                 {"harness/gate", "harness/measure"},
	"harness/explore":                  {"harness", "harness/", "scenarios", "scenarios/", "mocks", "mocks/wire", "clock", "stat"},
	"harness/baseline":                 {"stat", "harness/record", "harness/measure", "harness/gate", "scenarios/expect"},
	"harness/compare":                  {"stat", "harness/record", "harness/measure", "harness/gate", "harness/baseline"},
	"harness/corpus":                   {},
	"harness/detect":                   {"harness/corpus", "agents/stop", "agents/react/", "llm", "clock"},
	"harness/detect/evaluate":          {"fixtures", "clock", "agents/stop", "harness/corpus", "harness/detect", "harness/detect/score", "llm", "llm/"},
	"harness/detect/score":             {"harness/corpus", "harness/detect", "stat"},
	"harness":                          {"harness/", "scenarios/", "llm/", "clock"},
	"reports":                          {"stat", "fixtures", "harness/record", "harness/measure", "harness/gate", "harness/compare", "harness/survival", "reports/doc"},
	"reports/doc":                      {},
	"reports/drifted":                  {"harness/drift", "reports/doc"},
	"reports/explored":                 {"harness/gate", "harness/measure", "harness/survival", "reports/doc"},
	"reports/plot":                     {"stat", "harness/measure", "harness/survival", "reports/explored"},
	"reports/page":                     {"stat", "reports", "reports/", "event", "llm", "harness/record", "harness/measure", "harness/gate", "harness/compare", "harness/survival", "harness/detect/score"},
	"reports/inspect":                  {"event", "llm", "harness/record", "harness/measure", "harness/gate"},
	"reports/spans":                    {"event", "llm", "llm/genai", "harness/record", "harness/measure", "harness/gate"},
	"reports/detection":                {"stat", "harness/detect/score", "harness/detect/fit", "reports/plot", "reports/doc"},
	"reports/trace":                    {"fixtures", "reports", "harness/gate"},
	"reports/detection":                {"stat", "harness/detect/score", "reports/plot"},
	"test/demo":                        {},
	"test/demo/agent":                  {"test/demo"},
	"examples/http-app":                {},
	"examples/container":               {},
	"harness/app/demo":                 {},
	"harness/kind":                     {"harness/drive", "harness/gate", "harness/measure", "mocks/agent", "scenarios"},
	"harness/kind/external":            {"harness/gate"},
	"harness/kind/function":            ofKind,
	"harness/kind/command":             ofKind,
	"harness/kind/http":                ofKind,
	"harness/kind/container":           ofKind,
	"harness/kind/coding":              ofKind,
	"agents/loop/kind":                 ofKind,
	"agents/stop/kind":                 ofKind,
	"agents/interview/kind":            ofKind,
	"agents/persist/kind":              ofKind,
	"agents/react/kind":                ofKind,
	"kinds":                            {"agents/", "harness/gate", "harness/kind", "harness/kind/"},
	"cmd/rehearse":                     {"*"},
	"tools/raced":                      {},
	"tools/release":                    {},
}

// ofKind is what a kind of agent may import: the core and what it adapts.
var ofKind = []string{
	"agents/", "clock", "event", "fixtures", "llm", "llm/", "scenarios", "scenarios/", "harness/app", "harness/app/",
	"harness/drive", "harness/gate", "harness/kind", "harness/kind/", "harness/measure", "harness/record",
	"tools/fit":   {"clock", "harness/corpus", "harness/detect", "harness/detect/"},
	"tools/trace": {"reports", "harness/gate"},
}

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
	} {
		if check(pkg, imported) == nil {
			t.Errorf("%s may import %s, and should not", pkg, imported)
		}
	}
}

// check says why pkg may not import the package imported, both relative to the
// module.
func check(pkg, imported string) error {
	rules, ok := allowed[pkg]
	internal := strings.HasPrefix(imported, "internal/") || imported == "redact"
	switch {
	case !ok && strings.HasPrefix(pkg, "internal/"):
		if !internal {
			return fmt.Errorf("internal packages import only each other, not %s", imported)
		}
		return nil
	case !ok:
		return fmt.Errorf("package %s has no row in the import table", pkg)
	case internal:
		return nil
	}
	for _, rule := range rules {
		below := strings.HasSuffix(rule, "/") && strings.HasPrefix(imported+"/", rule)
		if rule == "*" || rule == imported || below {
			return nil
		}
	}
	return fmt.Errorf("%s may not import %s", pkg, imported)
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
