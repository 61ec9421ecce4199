package command_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

// statusOf reads lines of the form "CapBnd:\t000001ffffffffff"; see proc(5).
func statusOf(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		all[name] = strings.TrimSpace(value)
	}
	return all
}

var _ = Describe("The rights of a program", func() {
	run := func(ctx SpecContext, script string) string {
		GinkgoHelper()
		out, err := run(ctx, site(""), command.Program{Argv: []string{"sh", "-c", script}})
		Expect(err).NotTo(HaveOccurred())
		return string(out)
	}

	It("are not those of an administrator, and cannot be extended", func(ctx SpecContext) {
		status := statusOf(run(ctx, "cat /proc/self/status"))
		Expect(status).To(HaveKeyWithValue("NoNewPrivs", "1"))
		for _, set := range []string{"CapEff", "CapPrm", "CapBnd"} {
			if os.Geteuid() != 0 && set == "CapBnd" {
				continue // it cannot be changed, and grants nothing
			}
			mask, err := strconv.ParseUint(status[set], 16, 64)
			Expect(err).NotTo(HaveOccurred())
			for _, capability := range []int{unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_NET_ADMIN, unix.CAP_BPF} {
				Expect(mask&(1<<capability)).To(BeZero(), "%s, capability %d", set, capability)
			}
		}
	})

	It("exclude the variables and the network of its parent", func(ctx SpecContext) {
		if os.Geteuid() != 0 {
			Skip("without root it takes a process that hides itself")
		}
		for _, file := range []string{"environ", "mem", "ns/net", "fd/0"} {
			out := run(ctx, `(ls "/proc/$PPID/`+file+`/" || head -c 1 "/proc/$PPID/`+file+`") >/dev/null 2>&1 && echo read || echo refused`)
			Expect(out).To(Equal("refused\n"), file)
		}
	})

	It("do not change those of this process", func(ctx SpecContext) {
		run(ctx, "true")
		// The Go runtime parks the main thread instead of ending it: it runs no code again, and is
		// skipped.
		main := fmt.Sprintf("/proc/self/task/%d/status", os.Getpid())
		changed := func() (threads []string) {
			tasks, err := filepath.Glob("/proc/self/task/*/status")
			Expect(err).NotTo(HaveOccurred())
			Expect(tasks).NotTo(BeEmpty())
			for _, task := range tasks {
				now, err := os.ReadFile(task)
				if err == nil && task != main && statusOf(string(now))["NoNewPrivs"] != "0" {
					threads = append(threads, task)
				}
			}
			return threads
		}
		Eventually(changed).Should(BeEmpty(), "the thread that started it ends with it")
	})
})
