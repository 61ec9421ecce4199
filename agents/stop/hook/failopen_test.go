package hook_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing/iotest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
)

var _ = Describe("failing open", Label("G-12"), func() {
	DescribeTable("lets the agent stop, with a line that says why",
		func(change func(*hook.Config), stdin io.Reader, says string) {
			g := newGuard()
			change(&g.Config)
			var out, errs bytes.Buffer
			hook.Run(context.Background(), g.Config, stdin, &out, &errs)
			Expect(out.String()).To(Or(BeEmpty(), Equal("{}\n")))
			Expect(errs.String()).To(And(HavePrefix("rehearse guard: the agent may stop unjudged: "), ContainSubstring(says)))
			Expect(strings.Count(errs.String(), "\n")).To(Equal(1))
			Expect(len(errs.String())).To(BeNumerically("<", 1000))
		},
		Entry("no input", func(*hook.Config) {}, strings.NewReader(""), "input is empty"),
		Entry("a text", func(*hook.Config) {}, strings.NewReader("Next I will a."), "not a JSON object"),
		Entry("a list", func(*hook.Config) {}, strings.NewReader(`[{}]`), "not a JSON object"),
		Entry("an object that breaks off", func(*hook.Config) {}, strings.NewReader(`{"a":`), "read the host's JSON: unexpected EOF"),
		Entry("no JSON after all", func(*hook.Config) {}, strings.NewReader(`{a}`), "read the host's JSON: invalid character"),
		Entry("an object of 33 MB", func(*hook.Config) {}, io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(spaces{}, 33<<20)), "longer than 32 MB"),
		Entry("nested too deep", func(*hook.Config) {}, strings.NewReader(strings.Repeat(`{"a":`, 200_000)), "read the host's JSON"),
		Entry("no host", func(*hook.Config) {}, strings.NewReader(`{"a":1}`), "name it with --host"),
		Entry("no session", func(c *hook.Config) { c.Host = hook.Codex }, strings.NewReader(`{"last_assistant_message":"Next I will a."}`), "names no session"),
		Entry("too much input", func(*hook.Config) {}, io.LimitReader(spaces{}, 1<<30), "longer than 32 MB"),
		Entry("input that breaks off", func(*hook.Config) {}, iotest.ErrReader(errors.New("broken pipe")), "broken pipe"),
		Entry("a bug of ours", func(c *hook.Config) { c.Judge = func(string, stop.Options) stop.Verdict { panic("at the\ndisco") } },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"x"}`), "internal error: at the disco"),
		Entry("a state folder that is a file", func(c *hook.Config) { c.State = "suite_test.go" },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`), "choose another one with --state"),
		Entry("a lock that is a folder", func(c *hook.Config) { Expect(os.Mkdir(filepath.Join(c.State, ".lock"), 0o700)).To(Succeed()) },
			strings.NewReader(`{"hook_event_name":"Stop","session_id":"s","last_assistant_message":"Next I will a."}`), "lock the state folder"),
	)

	It("does so in a folder that cannot be written", func() {
		g := newGuard()
		if os.Geteuid() != 0 {
			Expect(os.Chmod(g.State, 0o500)).To(Succeed())
		} else if _, err := os.Stat("/proc/self"); err == nil {
			g.State = "/proc/guard" // where not even root can make a folder
		} else {
			Skip("root may write everywhere")
		}
		stdout, stderr := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(BeEmpty())
		Expect(stderr).To(ContainSubstring("--state"))
	})
	It("does so on a full disk or one that went away", func() {
		g := newGuard()
		g.Judge = func(message string, o stop.Options) stop.Verdict {
			Expect(os.RemoveAll(g.State)).To(Succeed()) // before it is remembered
			Expect(os.WriteFile(g.State, nil, 0o600)).To(Succeed())
			return judge(message, o)
		}
		stdout, stderr := g.call(claude("s", deferral("write the tests"), false))
		Expect(stdout).To(BeEmpty())
		Expect(stderr).To(ContainSubstring("may stop unjudged"))
	})
	It("does not wait for a host that never closes its input", func() {
		g := newGuard()
		in, keep := io.Pipe()
		defer keep.Close()
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(context.DeadlineExceeded)
		var out, errs bytes.Buffer
		hook.Run(ctx, g.Config, in, &out, &errs)
		Expect(out.String()).To(Equal("{}\n"))
		Expect(errs.String()).To(ContainSubstring("no answer in time"))
	})
	It("does not wait for the end of standard input after one JSON object", func() {
		g := newGuard()
		in, keep := io.Pipe()
		defer keep.Close()
		go func() { _, _ = io.WriteString(keep, claude("s", deferral("write the tests"), false)) }()
		var out, errs bytes.Buffer
		hook.Run(context.Background(), g.Config, in, &out, &errs)
		Expect(out.String()).To(HavePrefix(`{"decision":"block"`), errs.String())
	})
	It("ends after its deadline", func() {
		g := newGuard()
		in, keep := io.Pipe()
		defer keep.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			hook.Run(context.Background(), g.Config, in, io.Discard, io.Discard)
		}()
		// Virtual time passes when somebody sleeps.
		Eventually(func() bool {
			Expect(g.Clock.Sleep(context.Background(), time.Minute)).To(Succeed())
			select {
			case <-ended:
				return true
			default:
				return false
			}
		}).Should(BeTrue())
	})
	It("ignores a damaged state file", func() {
		for _, content := range []string{
			"", "{", `{"schema":"other/1"}`, `{"schema":"rehearse.guard/1","blocks":-9}`,
			`{"schema":"rehearse.guard/1","blocks":0}` + strings.Repeat(" ", 1<<20),
		} {
			g := newGuard()
			g.call(claude("s", finished, false))
			files, err := filepath.Glob(filepath.Join(g.State, "*.json"))
			Expect(err).NotTo(HaveOccurred())
			Expect(files).To(HaveLen(1))
			Expect(os.WriteFile(files[0], []byte(content), 0o600)).To(Succeed())
			stdout, _ := g.call(claude("s", deferral("a"), true))
			Expect(stdout).To(BeEmpty(), "nothing is known, and the agent was sent back")
			stdout, _ = g.call(claude("s", deferral("b"), false))
			Expect(stdout).NotTo(BeEmpty())
		}
	})
})

// spaces never ends.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
