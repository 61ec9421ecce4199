package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// measured is a page with one block whose figures are those of runs.
const measured = `# Speed

<!-- figures: measured; make figures -->

| what | benchmark | floor | measured | ratio | target |
|---|---|--:|--:|--:|---|
| a call | ` + "`mocks Load/mock over Load/floor`" + ` |  |  |  | ≤ 1.4 × |
| its p99 | ` + "`mocks Load/mock p99-sec`" + ` | | 17 s | 3 | ≤ 150 ms: reached |

anything
<!-- end of figures -->
after
`

// runs are six runs of a figure and its floor, of which the last ratio is far out, and a metric with one run.
const runs = `date: 2026-11-28
cpu: Some CPU
cores: 2
load: 0.12
go: go1.26.8
commit: abcdef01
goos: linux
goarch: amd64
pkg: github.com/rehearse-dev/rehearse/mocks
BenchmarkLoad/mock-2 10 2000 ns/op 0.2 p99-sec
BenchmarkLoad/floor-2 10 1000 ns/op
BenchmarkLoad/mock-2 10 2100 ns/op
BenchmarkLoad/floor-2 10 1000 ns/op
BenchmarkLoad/mock-2 10 2200 ns/op
BenchmarkLoad/floor-2 10 1000 ns/op
BenchmarkLoad/mock-2 10 2000 ns/op
BenchmarkLoad/floor-2 10 1000 ns/op
BenchmarkLoad/mock-2 10 2000 ns/op
BenchmarkLoad/floor-2 10 1000 ns/op
BenchmarkLoad/mock-2 10 3000 ns/op
BenchmarkLoad/floor-2 10 1000 ns/op
`

func parsed(t *testing.T, text string) results {
	t.Helper()
	all, err := parseResults("runs", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rendered(t *testing.T, page string, all results) string {
	t.Helper()
	text, err := render("page.md", page, all)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// H-05: a table shows medians with intervals, marks runs that do not agree, and compares them with their targets.
func TestRender(t *testing.T) {
	got := rendered(t, measured, parsed(t, runs))
	for _, want := range []string{
		"| a call | `mocks Load/mock over Load/floor` | 1 µs | ~ 2.05 (2 to 3) µs | ~ 2.05 (2 to 3) | ≤ 1.4 ×: missed |\n",
		"| its p99 | `mocks Load/mock p99-sec` |  | 200 ms, n = 1 |  | ≤ 150 ms: missed |\n",
		"\nMeasured on 2026-11-28: Some CPU, 2 cores, load 0.12 before, go1.26.8 linux/amd64, commit abcdef01; 6 runs.\n" + ending + "\nafter\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "anything") || rendered(t, got, parsed(t, runs)) != got {
		t.Error("a rendered page changes when it is rendered again")
	}
	none := rendered(t, got, nil)
	if strings.Count(none, "unknown") != 6 || !strings.Contains(none, "\nNot measured.\n") {
		t.Errorf("what was not measured is shown as\n%s", none)
	}
}

// H-05: a ratio is one of the same run; a figure and a floor of different days have none.
func TestRatioNeedsTheSameConditions(t *testing.T) {
	earlier := parsed(t, strings.ReplaceAll(runs, "2026-11-28", "2026-11-27"))
	var only results
	for _, r := range parsed(t, runs) {
		if keyOf(r)[1] == "Load/mock" {
			only = append(only, r)
		}
	}
	got := rendered(t, measured, earlier.replacedBy(only))
	if !strings.Contains(got, "µs | unknown | ≤ 1.4 ×: unknown |") || strings.Count(got, "Measured on") != 2 {
		t.Errorf("a ratio of two days:\n%s", got)
	}
}

// H-05: a target is reached only if the whole interval is on its side.
func TestJudge(t *testing.T) {
	for cell, want := range map[string]string{
		"≤ 3 ms": "≤ 3 ms: reached", "≤ 0.5 ms": "≤ 0.5 ms: missed", "≤ 1.5 ms": "≤ 1.5 ms: unclear", "≥ 1 ms: missed": "≥ 1 ms: reached",
		"≥ 2.5 ms": "≥ 2.5 ms: missed", "≥ 1.5 ms": "≥ 1.5 ms: unclear", "≤ 3 ×": "≤ 3 ×: unknown", "≤ 3 MB": "≤ 3 MB: unknown", "≥ 3 /s": "≥ 3 /s: unknown", "": "", "linear": "linear",
	} {
		if got := judge(cell, "sec/op", []float64{0.001, 0.002}, nil); got != want {
			t.Errorf("%q is judged as %q, want %q", cell, got, want)
		}
	}
}

// H-05: rates of simulations are compared exactly.
func TestRepeatedRates(t *testing.T) {
	const page = "<!-- figures: simulated harness/compare:Simulation/*:power harness/compare:Simulation/*:trials; make simulations -->\n" +
		"| a | b | c | d |\n|---|---|--:|--:|\n| one | `x_2` |  |  |\n" + ending + "\n"
	const stored = "pkg: github.com/rehearse-dev/rehearse/harness/compare\nBenchmarkSimulation/x_2-2 1 5 ns/op 0.8155 power 21.66 trials\n"
	if got := rendered(t, page, parsed(t, stored)); !strings.Contains(got, "| one | `x_2` | 81.5 % | 21.7 |\n") && !strings.Contains(got, "| one | `x_2` | 81.6 % | 21.7 |\n") {
		t.Error(got)
	}
	all := parsed(t, stored)
	if err := all.compare(parsed(t, strings.Replace(stored, "5 ns", "9 ns", 1))); err != nil {
		t.Errorf("another time: %v", err)
	}
	if err := all.compare(parsed(t, strings.Replace(stored, "0.8155", "0.8156", 1))); err == nil || !strings.Contains(err.Error(), "0.8156 power") {
		t.Errorf("another rate: %v", err)
	}
	if all.compare(nil) == nil {
		t.Error("nothing was simulated, and nothing is wrong")
	}
}

// H-05: an error names the line of a malformed block.
func TestMalformedBlocks(t *testing.T) {
	const begin, head = "<!-- figures: measured; make figures -->\n", "| a | b | c | d | e | f |\n|---|---|---|---|---|---|\n"
	for text, want := range map[string]string{
		begin + head + "| 1 | `mocks X` | | | | |\n":          "p.md:1: the block has no end",
		"x\n<!-- figures: other; make figures -->\n" + ending: "p.md:2: a block begins with",
		begin + ending: "p.md:1: the block has no table",
		begin + head + "| 1 | `mocks X` | | |\n" + ending:                     "p.md:4: the row has 4 cells instead of 6",
		begin + head + "| 1 | mocks X | | | | |\n" + ending:                   "p.md:4: the second cell must name",
		begin + head + "| 1 | `X` | | | | |\n" + ending:                       "p.md:4: \"X\" is not PACKAGE BENCHMARK",
		"<!-- figures: simulated; make simulations -->\n" + head + ending:     "p.md:1: a simulated block names columns",
		"<!-- figures: simulated a:B; make simulations -->\n" + head + ending: "p.md:1: column \"a:B\" is not",
	} {
		if _, _, err := parsePage("p.md", text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// pages are the pages with stored figures.
var pages = []string{"performance.md", "statistics.md"}

// H-05: the figures of the documentation are those of the stored runs, and each row names a benchmark that exists.
func TestPages(t *testing.T) {
	t.Chdir("../..")
	for _, name := range pages {
		page := filepath.Join("docs/figures", name)
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		all, err := readResults(page)
		if err != nil {
			t.Fatal(err)
		}
		if rendered(t, string(text), all) != string(text) {
			t.Errorf("%s was edited by hand, or its results were: make docs", page)
		}
		_, blocks, err := parsePage(page, string(text))
		if err != nil || len(blocks) == 0 {
			t.Fatalf("%s has %d blocks: %v", page, len(blocks), err)
		}
		for _, b := range blocks {
			for i := range b.rows {
				for _, m := range b.rows[i].metrics() {
					if !exists(t, m) {
						t.Errorf("%s:%d: %s has no function Benchmark%s", page, b.rows[i].line+1, m.pkg, function(m.bench))
					}
				}
			}
		}
	}
}

func exists(t *testing.T, m metric) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(text), "func Benchmark"+function(m.bench)+"(")
	})
}

// H-05: each block of figures in the documentation is of a kind that a command writes and a test compares.
func TestKindsOfBlocks(t *testing.T) {
	known := regexp.MustCompile(`^<!-- figures: (` +
		`(measured|simulated [^;]+); make (figures|simulations)|explorations; make explorations|` +
		`(signals|orders|answers|titles|rules by meaning|forbidden zones|cross-validation); make docs) -->$`)
	blocks := 0
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "<!-- figures:") {
				blocks++
				if !known.MatchString(line) {
					t.Errorf("%s:%d: nothing writes this block", path, i+1)
				}
			}
		}
		return err
	})
	if err != nil || blocks < 10 {
		t.Errorf("%d blocks: %v", blocks, err)
	}
}
