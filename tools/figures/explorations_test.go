package main

import (
	"strings"
	"testing"
)

// H-05: figures of the documentation that differ from the results are named, and can be replaced.
func TestTable(t *testing.T) {
	const old, now = "| `a/b` | 3 | 1 | 1 | 1 | 0 |\n", "| `a/b` | 4 | 2 | 1 | 1 | 0 |\n"
	page, err := replace("text\n"+begin+"anything\n"+end+"more\n", []string{old})
	if err != nil || !strings.HasPrefix(page, "text\n") || !strings.HasSuffix(page, end+"more\n") || strings.Contains(page, "anything") {
		t.Fatalf("%v %q", err, page)
	}
	if err := compare(page, []string{old}); err != nil {
		t.Error(err)
	}
	if err := compare(page, []string{old, now}); err == nil || !strings.Contains(err.Error(), now) || strings.Contains(err.Error(), old) {
		t.Errorf("compared to %v", err)
	}
	if _, err := replace("no marks", nil); err == nil {
		t.Error("a page without marks was changed")
	}
	if err := explorations("none", false, []string{t.TempDir()}); err == nil {
		t.Error("a folder without an exploration was read")
	}
}
