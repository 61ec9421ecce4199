//go:build unix

package work_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
)

func newCommand(script string) *rig {
	return newRig(plan.Worker{Command: []string{"sh", "-c", script}})
}

var _ = Describe("A command", func() {
	It("gets the task on its standard input, and whose it is in its environment", func() {
		GinkgoT().Setenv("SOME_API_KEY", "abcdefgh")
		r := newCommand(`cat; echo; echo $REHEARSE_TASK $REHEARSE_TASK_KEY $REHEARSE_ATTEMPT $REHEARSE_SEGMENT; pwd; echo "key $SOME_API_KEY"; echo no answer >&2`)
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Done))
		Expect(out.Answer).To(Equal("Goal: ship.\n\nBuild it.\nbuild key-1 2 3\n" + r.deps.Folder + "\nkey"))
		Expect(r.meter.calls).To(Equal(1))
		Expect(r.meter.active).To(BeNumerically(">=", 2))
	})

	It("gets the secrets that the plan names, and its answer shows none", func() {
		GinkgoT().Setenv("SOME_API_KEY", "abcdefgh")
		r := newRig(plan.Worker{Command: []string{"sh", "-c", "echo key $SOME_API_KEY"}, Env: []string{"SOME_API_KEY"}})
		Expect(r.work().Answer).To(Equal("key [SOME_API_KEY]"))
	})

	DescribeTable("is graded by its exit status", func(script string, want persist.Grade, details string) {
		out := newCommand(script).work()
		Expect(out.Grade).To(Equal(want), "%+v", out)
		Expect(out.Details).To(ContainSubstring(details))
	},
		Entry("0", "exit 0", persist.Done, "exit status 0"),
		Entry("1", "echo what is wrong >&2; exit 1", persist.Failed, "failed: exit status 1; it said: what is wrong"),
		Entry("a signal", "kill -KILL $$", persist.Failed, "failed: signal: killed"),
		Entry("127", "exec 2>/dev/null; no-such-program", persist.Blocked, "could not run a program that it needs: exit status 127"),
	)

	It("is blocked if the program does not exist", func() {
		out := newRig(plan.Worker{Command: []string{"no-such-program"}}).work()
		Expect(out.Grade).To(Equal(persist.Blocked))
		Expect(out.Details).To(HavePrefix("no-such-program cannot be run: "))
	})

	It("keeps the end of a flood as its answer", func() {
		out := newCommand("yes | head -c 1000000; echo the end").work()
		Expect(out.Answer).To(HaveSuffix("y\nthe end"))
		Expect(len(out.Answer)).To(BeNumerically("<=", 64<<10))
	})

	It("reports processes that it left in another process group, also after a timeout", func(ctx SpecContext) {
		r := newCommand("setsid sh -c 'echo $$ > orphan; exec sleep 600' & while ! test -s orphan; do :; done; touch ready; wait")
		r.deps.ChildClock = clock.NewVirtual() // the grace passes at once
		within, cancel := context.WithCancelCause(ctx)
		got := make(chan persist.Outcome)
		worker := r.worker()
		go func() { got <- worker.Work(within, r.assignment()) }()
		Eventually(func() error { _, err := os.Stat(filepath.Join(r.deps.Folder, "ready")); return err }).Should(Succeed())
		text, err := os.ReadFile(filepath.Join(r.deps.Folder, "orphan"))
		Expect(err).NotTo(HaveOccurred())
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		cancel(errStagnation)
		var out persist.Outcome
		Eventually(got).Should(Receive(&out))
		Expect(out.Grade).To(Equal(persist.Failed))
		Expect(out.Warning).To(ContainSubstring("left its process group"))
		Expect(out.Warning).To(ContainSubstring("may still run"))
	})

	It("is not started when the segment has no call left", func() {
		r := newCommand("touch started")
		r.meter.allowed = 0
		Expect(r.work().Grade).To(Equal(persist.Split))
		Expect(filepath.Join(r.deps.Folder, "started")).NotTo(BeAnExistingFile())
	})

	It("passes on nothing of a truncated flood, so that two runs are equal", func(ctx SpecContext) {
		r := newCommand("yes | head -c 100000; touch ready; exec yes")
		within, cancel := context.WithCancelCause(ctx)
		got := make(chan persist.Outcome)
		worker := r.worker()
		go func() { got <- worker.Work(within, r.assignment()) }()
		Eventually(func() error { _, err := os.Stat(filepath.Join(r.deps.Folder, "ready")); return err }).Should(Succeed())
		cancel(errTest)
		var out persist.Outcome
		Eventually(got).Should(Receive(&out))
		Expect(out.Answer + out.Carry).To(BeEmpty())
	})

	DescribeTable("is ended with all that it started", func(ctx SpecContext, cause error, want persist.Grade) {
		r := newCommand("echo half of it; echo $$ > pid; sleep 600 & touch ready; wait")
		within, cancel := context.WithCancelCause(ctx)
		got := make(chan persist.Outcome)
		worker := r.worker()
		go func() { got <- worker.Work(within, r.assignment()) }()
		Eventually(func() error { _, err := os.Stat(filepath.Join(r.deps.Folder, "ready")); return err }).Should(Succeed())
		cancel(cause)
		var out persist.Outcome
		Eventually(got).Should(Receive(&out))
		Expect(out.Grade).To(Equal(want))
		Expect(out.Details).To(ContainSubstring(cause.Error()))
		Expect(strings.TrimSpace(out.Carry)).To(Equal("half of it"))
	},
		Entry("by the watchdog", errStagnation, persist.Failed),
		Entry("with its segment", persist.ErrSegment, persist.Split),
		Entry("by the user", errTest, persist.Failed),
	)
})
