package coding_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/kind/coding"
)

var _ = Describe("A process that a program starts in its own session", func() {
	// stray finds a process that the program started like agents start commands.
	const stray = "cat >/dev/null\n" + initLine + "setsid sh -c 'echo $$ > \"$HOME/pid\"; sleep 600; :' >/dev/null 2>&1 &\nwhile [ ! -s \"$HOME/pid\" ]; do sleep 0.01; done\n"
	gone := func(home string) {
		GinkgoHelper()
		data, err := os.ReadFile(filepath.Join(home, "pid"))
		Expect(err).NotTo(HaveOccurred())
		pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
		Expect(err).NotTo(HaveOccurred())
		// It is killed, but whoever inherited it may not have waited for it yet.
		Eventually(func() error { return syscall.Kill(pid, 0) }).WithTimeout(10 * time.Second).Should(MatchError(syscall.ESRCH))
	}

	It("is killed when a turn is canceled", func(ctx SpecContext) {
		site, _ := newSite()
		session, err := start(coding.Config{Agent: "claude"}, named(play(stray+"echo > \"$HOME/ready\"; sleep 600\n")), site)
		Expect(err).NotTo(HaveOccurred())
		cut, cancel := context.WithCancel(ctx)
		go func() {
			defer cancel()
			defer GinkgoRecover()
			Eventually(func() error {
				_, err := os.Stat(filepath.Join(site.Home, "ready"))
				return err
			}).WithTimeout(30 * time.Second).Should(Succeed())
		}()
		_, err = session.Say(cut, "Go.")
		Expect(err).To(MatchError(context.Canceled))
		Expect(session.End(ctx)).To(Succeed())
		gone(site.Home)
	})
	It("is killed and named if it outlives a turn", func(ctx SpecContext) {
		site, _ := newSite()
		session, err := start(coding.Config{Agent: "claude"}, named(play(stray+`echo '{"type":"result","subtype":"success","result":"Done."}'`)), site)
		Expect(err).NotTo(HaveOccurred())
		_, err = session.Say(ctx, "Go.")
		Expect(err).NotTo(HaveOccurred())
		Expect(session.End(ctx)).To(MatchError(ContainSubstring("left processes behind, which were killed: sh")))
		gone(site.Home)
	})
})
