package hook_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

// child runs the guard as a host does: as a process.
func child(h hook.Host, cfg hook.Config, stdin []byte) (answer hook.Answer, stderr string) {
	GinkgoHelper()
	argv, env, err := cfg.Command("")
	Expect(err).NotTo(HaveOccurred())
	cmd := exec.Command(argv[0], argv[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), env...)
	Expect(cmd.Run()).To(Succeed(), errs.String())
	answer, err = h.ReadAnswer(cmd.ProcessState.ExitCode(), out.Bytes())
	Expect(err).NotTo(HaveOccurred(), out.String())
	return answer, errs.String()
}

var _ = Describe("The guard as a child process", Label("G-12"), func() {
	for _, h := range hook.Hosts() {
		It("lets an agent of "+string(h)+" stop when the work is done", func() {
			cfg := hook.Config{Host: h, State: GinkgoT().TempDir()}
			answer, stderr := child(h, cfg, []byte(input(h, session(finished, 0), GinkgoT().TempDir())))
			Expect(answer.Blocked).To(BeFalse())
			Expect(stderr).To(BeEmpty())
			Expect(remembered(cfg.State)).To(ContainSubstring(`"counts":{"allowed":1}`))
		})
	}
	It("counts correctly when several serve one session", func() {
		cfg := hook.Config{Shadow: true, State: GinkgoT().TempDir()}
		var working sync.WaitGroup
		for range 6 {
			working.Go(func() {
				defer GinkgoRecover()
				child(hook.Claude, cfg, []byte(claude("s", finished, false)))
			})
		}
		working.Wait()
		counts, err := hook.Tallies(context.Background(), cfg.State)
		Expect(err).NotTo(HaveOccurred())
		Expect(counts).To(Equal([]hook.Tally{{Host: hook.Claude, Sessions: 1, Allowed: 6}}))
	})
	It("does not refuse by crashing, though Go's exit status of a crash is a refusal for hosts", func() {
		cmd := exec.Command(os.Args[0])
		cmd.Dir = GinkgoT().TempDir() // some systems leave a core there
		cmd.Env = append(os.Environ(), crashing+"=1", "GORACE=atexit_sleep_ms=0")
		cmd.Stdin = strings.NewReader(claude("s", "x", false))
		out, err := cmd.CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(out)).To(ContainSubstring("stack overflow"))
		Expect(cmd.ProcessState.ExitCode()).NotTo(BeElementOf(0, 2))
	})
	It("fails open on an invalid configuration", func() {
		argv, env, err := hook.Config{Host: "claud"}.Command("")
		Expect(err).NotTo(HaveOccurred())
		for _, setting := range []string{env[0], hook.Env + "={", hook.Env + `={"cap":"many"}`} {
			cmd := exec.Command(argv[0])
			cmd.Env = append(os.Environ(), setting)
			cmd.Stdin = strings.NewReader(claude("s", deferral("a"), false))
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			Expect(err).NotTo(HaveOccurred())
			Expect(string(out)).To(Equal("{}\n"))
			Expect(errs.String()).To(ContainSubstring("REHEARSE_GUARD is not a valid configuration"))
		}
	})
})
