//go:build unix

package child_test

import (
	"bufio"
	"context"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/child"
)

var _ = It("kills at once the programs that were asked to end, and no others", func(ctx SpecContext) {
	start := func(ctx context.Context) (*child.Process, *bufio.Reader) {
		program := shell("trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done", endless)
		program.Stderr = io.Discard
		p, err := child.Start(ctx, program)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			_ = p.Stdout.Close()
			p.Kill()
		})
		out := bufio.NewReader(p.Stdout)
		Expect(out.ReadString('\n')).To(Equal("ready\n"))
		return p, out
	}
	asked, cancel := context.WithCancelCause(ctx)
	stubborn, out := start(asked)
	other, _ := start(ctx)
	cancel(errStop)
	Expect(out.ReadString('\n')).To(Equal("asked\n"))
	child.KillAsked()
	Expect(stubborn.Wait()).To(Equal(child.Ending{Code: -1, State: "signal: killed", Cause: errStop}))
	Expect(other.Exited()).NotTo(BeClosed(), "nobody asked it")
})
