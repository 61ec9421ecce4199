package child_test

import (
	"os"
	"os/exec"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/child"
)

var _ = It("kills marked processes with their descendants, and no others", func() {
	entry := "CHILD_TEST_MARK=" + GinkgoT().TempDir()
	start := func(mark string, command string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = append(os.Environ(), mark)
		Expect(cmd.Start()).To(Succeed())
		return cmd
	}
	marked, other := start(entry, "sleep 600 & wait"), start(entry+"-other", "exec sleep 600")
	DeferCleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	Eventually(func() int { return child.KillMarked(entry) }).Should(BeNumerically(">=", 1))
	Expect(syscall.Kill(marked.Process.Pid, 0)).To(MatchError(syscall.ESRCH), "no zombie is left")
	Eventually(func() int { return child.KillMarked(entry) }).Should(BeZero())
	Expect(other.Process.Signal(syscall.Signal(0))).To(Succeed())
})
