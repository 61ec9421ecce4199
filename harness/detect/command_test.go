//go:build unix

package detect_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/detect"
)

// echo answers every question with its id.
const echo = `sed -u 's/.*"id":"\([^"]*\)".*/{"id":"\1","positive":true}/'`

// impatient is a clock on which the first hour ends soon.
type impatient struct {
	clock.Clock
	ended bool
}

func (i *impatient) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if !i.ended {
		i.ended, d = true, 50*time.Millisecond
	}
	return i.Clock.WithTimeout(ctx, d)
}

// shell is a detector in the shell; it is closed with the spec.
func shell(cfg detect.CommandConfig, script string) *detect.Command {
	GinkgoHelper()
	cfg.Argv = []string{"sh", "-c", script}
	c, err := detect.NewCommand(cfg)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(c.Close)
	return c
}

// gone waits until no process has the word in its command line.
func gone(word string) {
	GinkgoHelper()
	Eventually(func() string {
		table, err := exec.Command("ps", "-A", "-o", "stat=,args=").Output()
		Expect(err).NotTo(HaveOccurred())
		for line := range strings.Lines(string(table)) {
			if strings.Contains(line, word) && !strings.HasPrefix(line, "Z") {
				return line
			}
		}
		return ""
	}).WithTimeout(testTimeout).Should(BeEmpty())
}

var _ = Describe("a command", func() {
	It("is started once and answers one question after another", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		c := shell(detect.CommandConfig{}, "echo x >> "+filepath.Join(dir, "starts")+"; exec "+echo)
		Expect(c.AtOnce()).To(Equal(1))
		n := 0
		for r := range run(ctx, numbered(200, nil), 8, c) {
			Expect(r.Answers[0].Err).NotTo(HaveOccurred())
			Expect(r.Answers[0].Prediction.Positive).To(BeTrue())
			n++
		}
		Expect(n).To(Equal(200))
		Expect(os.ReadFile(filepath.Join(dir, "starts"))).To(BeEquivalentTo("x\n"))
	})

	It("does not receive the label", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		c := shell(detect.CommandConfig{}, "tee "+filepath.Join(dir, "asked")+" | "+echo)
		Expect(ask(ctx, c, "one\ntwo é \u2028")).To(HaveField("Positive", true))
		Expect(c.Close()).To(Succeed())
		asked, err := os.ReadFile(filepath.Join(dir, "asked"))
		Expect(err).NotTo(HaveOccurred())
		Expect(asked).To(MatchJSON(`{"id":"a","text":"one\ntwo é \u2028","lang":"en","request":"Ask."}`))
		Expect(strings.Count(string(asked), "\n")).To(Equal(1))
	})

	It("receives messages larger than a pipe, and may answer before it has read all", func(ctx SpecContext) {
		c := shell(detect.CommandConfig{}, `while :; do head -c 9 >&2; printf '{"id":"a","positive":false}\n'; read -r line; done`)
		for range 3 {
			Expect(ask(ctx, c, strings.Repeat("x", 300<<10))).To(HaveField("Positive", false))
		}
	}, NodeTimeout(testTimeout))

	DescribeTable("that fails is quoted, and restarted for the next item",
		func(ctx SpecContext, script, want string) {
			dir := GinkgoT().TempDir()
			cfg := detect.CommandConfig{Timeout: time.Hour}
			if strings.Contains(want, "no answer") {
				cfg.Clock = &impatient{Clock: clock.Real()}
			}
			c := shell(cfg,
				fmt.Sprintf("cd %s; if [ -e again ]; then exec %s; fi; : > again; %s", dir, echo, script))
			p, err := ask(ctx, c, "x")
			Expect(err).To(MatchError(ContainSubstring(want)))
			Expect(p).To(Equal(detect.Prediction{}))
			Expect(err.Error()).NotTo(ContainSubstring("\x1b"))
			Expect(ask(ctx, c, "x")).To(HaveField("Positive", true))
		},
		Entry("it dies", `read -r x; printf 'no \033[2J model' >&2; exit 3`, `exit status 3; standard error: no \x1b[2J model`),
		Entry("it is killed", `read -r x; kill -9 $$`, "signal: killed"),
		Entry("it ends at once", `exit 0`, "ended without an answer: exit status 0"),
		Entry("it hangs", `sleep 600`, "no answer from the detector within 1h0m0s"),
		Entry("it ignores SIGTERM", `trap "" TERM; sleep 600; sleep 600`, "no answer from the detector within 1h0m0s"),
		Entry("it talks", `echo ready; cat`, `not a valid JSON object`),
		Entry("it answers another question", `echo '{"id":"z","positive":true}'; cat`, `about item "z"`),
		Entry("it floods", `yes | tr -d '\n'`, "no answer from the detector within 1h0m0s"),
		Entry("its line is too long", `head -c 2000000 /dev/zero | tr '\0' x; echo; cat`, "too long"),
		Entry("it ends a line late", `read -r x; echo '{"id":"a"'; sleep 600`, "not a valid JSON object"),
	)

	It("is given up after three failures in a row", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		c := shell(detect.CommandConfig{}, "echo x >> "+filepath.Join(dir, "starts")+"; echo broken >&2")
		for range 3 {
			_, err := ask(ctx, c, "x")
			Expect(err).To(MatchError(HavePrefix("the detector ended without an answer")))
		}
		_, err := ask(ctx, c, "x")
		Expect(err).To(MatchError(And(ContainSubstring("failed 3 times in a row"), ContainSubstring("broken"))))
		Expect(os.ReadFile(filepath.Join(dir, "starts"))).To(BeEquivalentTo("x\nx\nx\n"))
	})

	It("may fail now and then", func(ctx SpecContext) {
		c := shell(detect.CommandConfig{}, `while read -r line; do case $line in *bad*) exit 1;; esac; echo '{"id":"a","positive":true}'; done`)
		for range 3 {
			for range 2 {
				_, err := ask(ctx, c, "bad")
				Expect(err).To(MatchError(ContainSubstring("exit status 1")))
			}
			Expect(ask(ctx, c, "good")).To(HaveField("Positive", true))
		}
	})

	It("is not counted as failed after an interruption", func(ctx SpecContext) {
		c := shell(detect.CommandConfig{}, echo)
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		for range 5 {
			_, err := ask(stopped, c, "x")
			Expect(err).To(MatchError(context.Canceled))
		}
		Expect(ask(ctx, c, "x")).To(HaveField("Positive", true))
	})

	It("leaves no process behind when it exits", func(ctx SpecContext) {
		c := shell(detect.CommandConfig{Grace: time.Hour}, "sleep 64.64 > /dev/null 2>&1 & exec "+echo)
		Expect(ask(ctx, c, "x")).To(HaveField("Positive", true))
		Expect(c.Close()).To(Succeed())
		gone("sleep 64.64")
	}, NodeTimeout(testTimeout))

	It("ends with all its descendants, before and after the first question", func(ctx SpecContext) {
		c := shell(detect.CommandConfig{Grace: 100 * time.Millisecond}, "sleep 61.61 & "+echo+"; sleep 62.62")
		Expect(ask(ctx, c, "x")).To(HaveField("Positive", true))
		Expect(c.Close()).To(Succeed())
		gone("sleep 61.61")
		gone("sleep 62.62")
		Expect(c.Close()).To(Succeed())
	})

	It("exits when its input is closed", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		c := shell(detect.CommandConfig{Grace: time.Hour}, echo+"; echo bye > "+filepath.Join(dir, "end"))
		Expect(ask(ctx, c, "x")).To(HaveField("Positive", true))
		Expect(c.Close()).To(Succeed())
		Expect(os.ReadFile(filepath.Join(dir, "end"))).To(BeEquivalentTo("bye\n"))
	}, NodeTimeout(testTimeout))

	It("is killed after an interruption", func(ctx SpecContext) {
		stopped, cancel := context.WithCancelCause(ctx)
		user := errors.New("the user stopped")
		c := shell(detect.CommandConfig{Timeout: time.Hour}, "sleep 63.63")
		go cancel(user)
		_, err := ask(stopped, c, "x")
		Expect(err).To(MatchError(user))
		gone("sleep 63.63")
	}, NodeTimeout(testTimeout))

	It("is not kept waiting by a descendant that left the group", func(ctx SpecContext) {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid here")
		}
		file := filepath.Join(GinkgoT().TempDir(), "pid")
		DeferCleanup(func() {
			text, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			Expect(err).NotTo(HaveOccurred())
			Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
		})
		c := shell(detect.CommandConfig{Timeout: time.Hour, Grace: 50 * time.Millisecond},
			fmt.Sprintf(`setsid sh -c 'echo $$ > %s.new; mv %[1]s.new %[1]s; exec sleep 600' & while [ ! -e %[1]s ]; do :; done; exit 4`, file))
		_, err := ask(ctx, c, "x")
		Expect(err).To(MatchError(ContainSubstring("exit status 4")))
	}, NodeTimeout(testTimeout))

	It("must exist", func() {
		_, err := detect.NewCommand(detect.CommandConfig{})
		Expect(err).To(MatchError(ContainSubstring("no command")))
		_, err = detect.NewCommand(detect.CommandConfig{Argv: []string{"no-such-detector"}})
		Expect(err).To(MatchError(ContainSubstring("no-such-detector")))
	})
})

var _ = It("refuses text that is not UTF-8", func(ctx SpecContext) {
	c := shell(detect.CommandConfig{}, echo)
	_, err := c.Detect(ctx, detect.Item{ID: "a", Text: "\xff"})
	Expect(err).To(MatchError(ContainSubstring("ask about item a")))
})
