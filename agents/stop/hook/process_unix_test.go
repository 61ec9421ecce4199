//go:build unix

package hook_test

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = It("does not refuse when a host ends it: Go's exit status for SIGQUIT is a host's refusal", Label("G-12"), func() {
	argv, env, err := hook.Config{State: GinkgoT().TempDir()}.Command("")
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(argv[0])
	cmd.Dir = GinkgoT().TempDir() // some systems leave a core there
	cmd.Env = append(os.Environ(), env...)
	stdin, err := cmd.StdinPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Start()).To(Succeed())
	_, err = stdin.Write(bytes.Repeat([]byte(" "), 1<<20)) // more than a pipe holds: so it has begun to read
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Process.Signal(syscall.SIGQUIT)).To(Succeed())
	Expect(cmd.Wait()).NotTo(Succeed())
	Expect(cmd.ProcessState.ExitCode()).NotTo(Equal(2))
})
