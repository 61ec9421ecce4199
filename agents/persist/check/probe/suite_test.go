package probe_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/check/probe"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

func TestProbe(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second) // processes on a busy machine
	RunSpecs(t, "agents/persist/check/probe")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// folder makes a folder with files, by their paths.
func folder(files map[string]string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for name, text := range files {
		write(dir, name, text)
	}
	return dir
}

func write(dir, name, text string) {
	GinkgoHelper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
}

// ask makes a probe on the machine's clock and asks it.
func ask(ctx context.Context, dir string, spec plan.Probe) check.Result {
	GinkgoHelper()
	p, err := probe.New(spec, dir, nil)
	Expect(err).NotTo(HaveOccurred())
	return p.Probe(ctx)
}
