package layout_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture checks the table of folders in ARCHITECTURE.md against the table of
// packages.
func TestArchitecture(t *testing.T) {
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := folderRows(string(data))
	want := folders(allowed)
	for folder, imports := range want {
		switch got, ok := documented[folder]; {
		case !ok:
			t.Errorf("ARCHITECTURE.md has no row for %s, which may import %s", folder, imports)
		case got != imports:
			t.Errorf("ARCHITECTURE.md: %s may import %s, not %s", folder, imports, got)
		}
	}
	for folder := range documented {
		if _, ok := want[folder]; !ok {
			t.Errorf("ARCHITECTURE.md has a row for %s, which contains no packages", folder)
		}
	}
}

// TestArchitectureRefuses shows that the comparison can fail.
func TestArchitectureRefuses(t *testing.T) {
	got := folders(map[string][]string{"a": {"b"}, "a/x": {"c/y", "a/"}, "b": {}, "d/kind": {"*", "b"}, "d": {}})
	for folder, want := range map[string]string{"a": "`b`, `c`", "b": "nothing", "d": "nothing", "kind": "everything"} {
		if got[folder] != want {
			t.Errorf("%s may import %s, want %s", folder, got[folder], want)
		}
	}
	rows := folderRows("| folder | purpose | may import |\n|---|---|---|\n| `a` | x | `b`, `c` |\n\n| `e` | other | table |\n")
	if len(rows) != 1 || rows["a"] != "`b`, `c`" {
		t.Errorf("read %v", rows)
	}
}

// folders summarizes a table of packages by their top folders: which others each may
// import, as Markdown.
func folders(table map[string][]string) map[string]string {
	imports := map[string][]string{}
	for pkg, rules := range table {
		folder := folderOf(pkg)
		list := imports[folder]
		for _, rule := range rules {
			if other, _, _ := strings.Cut(rule, "/"); other != folder {
				list = append(list, "`"+other+"`")
			}
		}
		imports[folder] = list
	}
	all := map[string]string{}
	for folder, list := range imports {
		slices.Sort(list)
		switch list = slices.Compact(list); {
		case slices.Contains(list, "`*`"):
			all[folder] = "everything"
		case len(list) == 0:
			all[folder] = "nothing"
		default:
			all[folder] = strings.Join(list, ", ")
		}
	}
	return all
}

// folderOf returns the top folder of a package. Packages that adapt an agent to the harness
// have a row of their own.
func folderOf(pkg string) string {
	switch pkg {
	case "harness/kind", "harness/kind/function": // part of the core
	default:
		if strings.Contains(pkg+"/", "/kind/") {
			return "kind"
		}
	}
	folder, _, _ := strings.Cut(pkg, "/")
	return folder
}

var folderRow = regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|[^|]*\\| ([^|]*) \\|$")

// folderRows reads the table with the heading "folder".
func folderRows(document string) map[string]string {
	_, table, _ := strings.Cut(document, "| folder |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{}
	for _, m := range folderRow.FindAllStringSubmatch(table, -1) {
		rows[m[1]] = m[2]
	}
	return rows
}
