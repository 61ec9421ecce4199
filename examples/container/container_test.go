// Package container_test drives an agent in a container, as it is deployed.
package container_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/container"
)

// TestFerry builds the program of examples/http-app for a container beside copies of the
// Dockerfile and the scenario, and drives it. Without Docker it is skipped.
func TestFerry(t *testing.T) {
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "ferry"), "../http-app")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the application: %v\n%s", err, out)
	}
	for _, name := range []string{"Dockerfile", "ferry.yaml"} {
		data, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	harness.Check(t, harness.Rehearsal{Kinds: kind.List{container.Kind()}, Files: []string{filepath.Join(folder, "ferry.yaml")}})
}
