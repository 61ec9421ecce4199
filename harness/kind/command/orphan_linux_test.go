package command_test

import (
	"os/exec"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

var _ = DescribeTable("all descendants that a program leaves behind are killed and named",
	func(ctx SpecContext, script string, names ...string) {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid here")
		}
		place := site("")
		_, err := run(ctx, place, command.Program{Argv: []string{"sh", "-c", script}})
		Expect(err).To(beKind(app.Unusable, "left processes behind, which were killed: "+strings.Join(names, ", ")+";"))
		Expect(command.Orphans(clock.Real(), place.Home, 0)).To(BeEmpty())
	},
	Entry("in its group", `sleep 600 &`, "sleep"),
	Entry("in a session of its own", `setsid sleep 600 &`, "sleep"),
	Entry("without variables", `setsid env -i sleep 600 &`, "sleep"),
	Entry("in a session of its own, with a child", `setsid sh -c 'sleep 600; :' & sleep 0.1`, "sh"),
	Entry("within execve", `setsid sh -c 'exec sleep 600' & sleep 0.05`, "sleep"),
)

var _ = It("does not report the descendants of a program that was stopped", func(ctx SpecContext) {
	ready := &notice{text: "ready", then: make(chan struct{})}
	place := site("")
	p, err := command.Start(place, command.Program{Argv: []string{"sh", "-c", "sleep 600 & setsid sleep 600 & echo ready; wait"}, Stdout: ready})
	Expect(err).NotTo(HaveOccurred())
	<-ready.then
	Expect(p.Kill()).To(Succeed())
	Expect(p.Wait(ctx)).To(Succeed())
	Expect(command.Orphans(clock.Real(), place.Home, 0)).To(BeEmpty())
})

var _ = It("waits for descendants that end a moment later", func(ctx SpecContext) {
	out, err := run(ctx, site(""), command.Program{Argv: []string{"sh", "-c", "sleep 0.05 & echo done"}})
	Expect(err).NotTo(HaveOccurred())
	Expect(string(out)).To(Equal("done\n"))
})

var _ = It("adopts the orphans of programs that others started", func(ctx SpecContext) {
	if _, err := exec.LookPath("setsid"); err != nil {
		Skip("there is no setsid here")
	}
	command.Adopt()
	place := site("")
	cmd := exec.CommandContext(ctx, "sh", "-c", "setsid sleep 600 & setsid sleep 600 &")
	cmd.Env = command.Environ(place, nil)
	Expect(cmd.Run()).To(Succeed())
	Eventually(func() []string { return command.Orphans(clock.Real(), place.Home, time.Millisecond) }).ShouldNot(BeEmpty())
	Eventually(func() []string { return command.Orphans(clock.Real(), place.Home, 0) }).Should(BeEmpty())
})

var _ = It("gives a hint for a turn that is too long for an argument", func(ctx SpecContext) {
	s := begin(ctx, "echo", command.Options{Input: "argument"})
	_, err := s.Say(ctx, strings.Repeat("x", 1<<20))
	Expect(err).To(beKind(app.Unusable, "hand the turn over by standard input or a file"))
})
