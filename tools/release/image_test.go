package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestImage builds the container image of a release, and runs a scenario in it. Without Docker it is skipped.
func TestImage(t *testing.T) {
	if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
		t.Skipf("Docker does not answer on this machine: %s", strings.TrimSpace(string(out)))
	}
	g := NewWithT(t)
	folder := t.TempDir()
	docker := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
		g.Expect(err).NotTo(HaveOccurred(), string(out))
		return string(out)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "rehearse"), "../../cmd/rehearse")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	build.Stderr = t.Output()
	g.Expect(build.Run()).To(Succeed())
	const image = "rehearse-test-image"
	docker("build", "--tag", image, "--file", "Dockerfile", folder)
	t.Cleanup(func() { _ = exec.Command("docker", "rmi", "--force", image).Run() })
	g.Expect(docker("run", "--rm", image, "run", "loop/golden-marker")).To(ContainSubstring("pass: 1 scenario: 1 pass"))
}
