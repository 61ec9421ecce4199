//go:build unix

package work_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// hasty is a virtual clock with a short time of grace, which processes need in real
// time.
type hasty struct{ *clock.Virtual }

func (hasty) Sleep(ctx context.Context, d time.Duration) error {
	return clock.Real().Sleep(ctx, d/10)
}

func sh(script string) plan.Probe { return plan.Probe{Command: []string{"sh", "-c", script}} }

var _ = Describe("a command", Label("P-01"), func() {
	DescribeTable("passes, fails, or cannot decide", func(ctx SpecContext, spec plan.Probe, want plan.Verdict, details, output string) {
		r := ask(ctx, GinkgoT().TempDir(), spec)
		Expect(r.Verdict).To(Equal(want), "%+v", r)
		Expect(r.Details).To(ContainSubstring(details))
		Expect(r.Output).To(Equal(output))
	},
		Entry("exit status 0", sh("echo fine; echo well >&2"), plan.Pass, "sh -c echo fine; echo well >&2 passed", "fine\nwell"),
		Entry("exit status 1", sh("echo bad; exit 1"), plan.Fail, "failed: exit status 1", "bad"),
		Entry("exit status 255", sh("exit 255"), plan.Fail, "failed: exit status 255", ""),
		Entry("no such program", plan.Probe{Command: []string{"no-such-program"}}, plan.Unknown, "cannot be run", ""),
		Entry("no such file", plan.Probe{Command: []string{"./x"}}, plan.Unknown, "cannot be run", ""),
		Entry("a program that it needs is missing", sh("exec 2>/dev/null; no-such-program"), plan.Unknown, "could not run a program that it needs: exit status 127", ""),
		Entry("unittest without a test", sh("echo 'Ran 0 tests in 0.000s'; echo; echo OK"), plan.Unknown, "ran no test, so it proves nothing", "Ran 0 tests in 0.000s\n\nOK"),
		Entry("unittest with tests", sh("echo 'Ran 10 tests in 0.000s'"), plan.Pass, "passed", "Ran 10 tests in 0.000s"),
		Entry("node without a test", sh("echo '# tests 0'"), plan.Unknown, "ran no test", "# tests 0"),
		Entry("packages of Go without a test", sh("printf '?   \tx\t[no test files]\n'"), plan.Unknown, "ran no test", "?   \tx\t[no test files]"),
		Entry("packages of Go, one with tests", sh("printf '?   x [no test files]\nok  \tx/y 0.1s\n'"), plan.Pass, "passed", "?   x [no test files]\nok  \tx/y 0.1s"),
		Entry("crates without a test", sh("echo 'test result: ok. 0 passed; 0 failed; 0 ignored'"), plan.Unknown, "ran no test", "test result: ok. 0 passed; 0 failed; 0 ignored"),
		Entry("pytest without a test", sh("echo 'no tests ran in 0.01s'; exit 5"), plan.Unknown, "ran no test", "no tests ran in 0.01s"),
		Entry("no pytest", sh("echo '/usr/bin/python3: No module named pytest'; exit 1"), plan.Unknown, "needs the Python module pytest, which is not installed", "/usr/bin/python3: No module named pytest"),
		Entry("a module that the code needs", sh("echo 'E   ModuleNotFoundError: No module named x'; exit 1"), plan.Fail, "failed", "E   ModuleNotFoundError: No module named x"),
		Entry("killed", sh("kill -KILL $$"), plan.Unknown, "was ended from outside: signal: killed", ""),
	)

	It("runs in the folder of the plan", func(ctx SpecContext) {
		dir := folder(map[string]string{"check.sh": "#!/bin/sh\npwd; echo $PWD\n"})
		Expect(os.Chmod(filepath.Join(dir, "check.sh"), 0o755)).To(Succeed())
		Expect(ask(ctx, dir, plan.Probe{Command: []string{"./check.sh"}}).Output).To(Equal(dir + "\n" + dir))
	})

	It("receives only the secrets that the plan names, and shows none", func(ctx SpecContext) {
		GinkgoT().Setenv("SOME_API_KEY", "abcdefgh-1")
		GinkgoT().Setenv("OTHER_TOKEN", "abcdefgh-2")
		spec := sh("echo key=$SOME_API_KEY token=$OTHER_TOKEN home=${PATH:+there}; echo abcdefgh-2")
		Expect(ask(ctx, "", spec).Output).To(Equal("key= token= home=there\n[OTHER_TOKEN]"))
		spec.Env = []string{"SOME_API_KEY"}
		Expect(ask(ctx, "", spec).Output).To(HavePrefix("key=[SOME_API_KEY] token= "))
	})

	It("keeps the end of what a flood said", func(ctx SpecContext) {
		r := ask(ctx, "", sh("yes | head -c 10000000; echo the end; exit 1"))
		Expect(r.Verdict).To(Equal(plan.Fail))
		Expect(r.Output).To(HaveSuffix("y\nthe end"))
		Expect(len(r.Output)).To(BeNumerically("<=", 4<<10))
	})

	It("prints no half of a line of a long output", func(ctx SpecContext) {
		r := ask(ctx, "", sh("for i in $(seq 1000); do echo FAIL number $i; done; exit 1"))
		Expect(r.Output).To(HavePrefix("FAIL number "))
		Expect(r.Items[0]).To(HavePrefix("FAIL number "))
	})

	DescribeTable("is ended at its timeout, on the given clock", func(ctx SpecContext, script, output string) {
		v := hasty{clock.NewVirtual()}
		spec := sh(script)
		spec.Timeout = quantity.Duration(time.Minute)
		dir := GinkgoT().TempDir()
		p, err := newProbe(spec, dir, v)
		Expect(err).NotTo(HaveOccurred())
		got := make(chan plan.CheckResult)
		go func() { got <- p(ctx) }()
		Eventually(func() error { _, err := os.Stat(filepath.Join(dir, "ready")); return err }).Should(Succeed())
		Expect(v.Virtual.Sleep(ctx, time.Minute)).To(Succeed())
		var r plan.CheckResult
		Eventually(got).Should(Receive(&r))
		Expect(r.Verdict).To(Equal(plan.Unknown))
		Expect(r.Details).To(HaveSuffix("did not end within 1m0s (timeout)"))
		Expect(r.Output).To(Equal(output))
	},
		Entry("hangs", "echo said; touch ready; exec sleep 600", "said"),
		Entry("ignores SIGTERM", "trap '' TERM; touch ready; while :; do sleep 600; done", ""),
		Entry("floods, where two runs are to say the same", "yes | head -c 100000; touch ready; exec yes", ""),
		Entry("has children that hold its output", "echo said; sleep 600 & touch ready; wait", "said"),
		Entry("ends with 0 when asked to end", "trap 'exit 0' TERM; touch ready; while :; do sleep 600 & wait; done", ""),
	)

	It("reports a process that it left behind", func(ctx SpecContext) {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid here")
		}
		dir := GinkgoT().TempDir()
		p, err := newProbe(sh("setsid sh -c 'echo $$ > new; mv new left; exec sleep 600' & while [ ! -e left ]; do :; done"), dir, hasty{clock.NewVirtual()})
		Expect(err).NotTo(HaveOccurred())
		r := p(ctx)
		Expect(r.Verdict).To(Equal(plan.Pass))
		Expect(r.Details).To(HaveSuffix("something that it started left its process group, held its output for 2s and may still run"))
		pid, err := os.ReadFile(filepath.Join(dir, "left"))
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.Command("kill", strings.TrimSpace(string(pid))).Run()).To(Succeed())
	})

	It("reports why it was ended from outside", func(ctx SpecContext) {
		within, cancel := context.WithCancelCause(ctx)
		dir := GinkgoT().TempDir()
		p, err := newProbe(sh("touch ready; exec sleep 600"), dir, nil)
		Expect(err).NotTo(HaveOccurred())
		got := make(chan plan.CheckResult)
		go func() { got <- p(within) }()
		Eventually(func() error { _, err := os.Stat(filepath.Join(dir, "ready")); return err }).Should(Succeed())
		cancel(errors.New("the user interrupted"))
		var r plan.CheckResult
		Eventually(got).Should(Receive(&r))
		Expect(r.Verdict).To(Equal(plan.Unknown))
		Expect(r.Details).To(HaveSuffix("was ended: the user interrupted"))
	})

	It("names the failures without what changes from run to run", func(ctx SpecContext) {
		r := ask(ctx, "", sh(`cat <<'END'
=== RUN   TestB
--- FAIL: TestB (0.12s)
    b_test.go:7: got 3, want 4
--- PASS: TestA (0.00s)
FAIL
FAIL	example.org/b	0.131s
FAIL	example.org/b	0.132s
src/a.ts:3:5: error TS2304: Cannot find name 'x'.
Tests: 0 failed
END
exit 1`))
		Expect(r.Items).To(Equal([]string{
			"--- FAIL: TestB", "FAIL", "FAIL example.org/b", "b_test.go:7: got 3, want 4", "src/a.ts:3:5: error TS2304: Cannot find name 'x'.",
		}))
	})

	It("has no failures where it passes", func(ctx SpecContext) {
		Expect(ask(ctx, "", sh("echo FAIL")).Items).To(BeEmpty())
	})
})

var _ = It("does not wait for whoever writes to a pipe in place of a list of todos", func(ctx SpecContext) {
	dir := GinkgoT().TempDir()
	Expect(syscall.Mkfifo(filepath.Join(dir, "TODO.md"), 0o600)).To(Succeed())
	Expect(ask(ctx, dir, plan.Probe{File: "TODO.md"}).Details).To(HaveSuffix("TODO.md is not a regular file"))
})

var _ = Describe("a probe", func() {
	It("of the kind none returns its reason", func(ctx SpecContext) {
		Expect(ask(ctx, "", plan.Probe{None: "CI does it."})).To(Equal(plan.CheckResult{Verdict: plan.None, Details: "CI does it."}))
	})

	It("is refused without a kind, or with a bad pattern", func() {
		_, err := newProbe(plan.Probe{}, "", nil)
		Expect(err).To(HaveOccurred())
		_, err = newProbe(plan.Probe{Markers: []string{"x"}, In: []string{"["}}, "", nil)
		Expect(err).To(HaveOccurred())
		_, err = work.Probes(plan.Plan{Checks: map[plan.Check]plan.Probe{plan.CheckTests: {}}}, "", nil)
		Expect(err).To(MatchError(HavePrefix("check tests: ")))
	})

	It("is made for each check of a plan", func(ctx SpecContext) {
		probes, err := work.Probes(plan.Plan{Checks: map[plan.Check]plan.Probe{
			plan.CheckTests: sh("exit 1"), plan.CheckValidation: {None: "x"},
		}}, "", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(probes).To(HaveLen(2))
		Expect(probes[plan.CheckTests](ctx).Verdict).To(Equal(plan.Fail))
		Expect(strings.TrimSpace(probes[plan.CheckValidation](ctx).Details)).To(Equal("x"))
	})
})
