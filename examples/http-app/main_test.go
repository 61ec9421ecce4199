package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
)

// TestDesk builds the application, adds it to PATH for the scenarios (run: [http-app]) and
// drives it.
func TestDesk(t *testing.T) {
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "http-app"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the application: %v\n%s", err, out)
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))

	res := harness.Check(t, harness.Rehearsal{Kinds: kind.List{http.Kind()}, Files: []string{"scenarios"}})
	for _, trial := range res.Trials {
		if cost := trial.Facts.Cost; !cost.Known || cost.EUR > 0.001 {
			t.Errorf("a conversation costs too much: %+v", cost)
		}
	}
}
