//go:build unix

package child_test

import (
	"bufio"
	"os/exec"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/child"
)

var _ = It("kills at once those that were asked to end, and no others", func() {
	start := func() (*exec.Cmd, *bufio.Reader) {
		cmd := exec.Command("sh", "-c", "trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done")
		child.OwnGroup(cmd)
		out, err := cmd.StdoutPipe()
		Expect(err).NotTo(HaveOccurred())
		Expect(cmd.Start()).To(Succeed())
		DeferCleanup(func() { child.Kill(cmd) })
		said := bufio.NewReader(out)
		Expect(said.ReadString('\n')).To(Equal("ready\n"))
		return cmd, said
	}
	stubborn, said := start()
	other, _ := start()
	child.Terminate(stubborn)
	Expect(said.ReadString('\n')).To(Equal("asked\n"))
	child.KillAsked()
	Expect(stubborn.Wait()).NotTo(Succeed())
	Expect(stubborn.ProcessState.Sys().(syscall.WaitStatus).Signal()).To(Equal(syscall.SIGKILL))
	Expect(other.Process.Signal(syscall.Signal(0))).To(Succeed(), "nobody asked it")
	child.Kill(other)
	Expect(other.Wait()).NotTo(Succeed())
})
