package harness

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Snapshot compares the description of a result's trials with a file, such as testdata/hours.txt, and
// fails the test at the first difference. In virtual time the text is the same in every run. "go test
// -update" writes the file instead; the test must declare that flag: flag.Bool("update", false,
// "rewrite snapshots").
func Snapshot(t T, file string, r *Result) {
	t.Helper()
	var story strings.Builder
	for _, j := range r.Trials {
		story.WriteString(j.String())
	}
	if updating() {
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = os.WriteFile(file, []byte(story.String()), 0o644) //nolint:gosec // it is committed with the test
		}
		if err != nil {
			t.Fatalf("write the snapshot: %v", err)
		}
		return
	}
	want, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Fatalf("the snapshot %s does not exist; go test -update writes it", file)
	case err != nil:
		t.Fatalf("read the snapshot: %v", err)
	case string(want) != story.String():
		t.Errorf("the snapshot %s differs %s\ngo test -update accepts the change", file, firstDifference(string(want), story.String()))
	}
}

// updating reports whether the process is a test with the flag -update.
func updating() bool {
	update := flag.Lookup("update")
	return update != nil && update.Value.String() == "true"
}

// firstDifference describes the first line in which two texts differ.
func firstDifference(want, got string) string {
	wantLines, gotLines := strings.Split(want, "\n"), strings.Split(got, "\n")
	n := 0
	for n < min(len(wantLines), len(gotLines))-1 && wantLines[n] == gotLines[n] {
		n++
	}
	return fmt.Sprintf("in line %d:\n  - %s\n  + %s", n+1, wantLines[n], gotLines[n])
}
