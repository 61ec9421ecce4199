//go:build unix

package child_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/internal/child"
)

// asleep waits until the context ends: a grace that never passes.
func asleep(ctx context.Context, _ time.Duration) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// awake is a grace that has passed at once.
func awake(context.Context, time.Duration) error { return nil }

// signal cancels a context with errStop when a text was said, and keeps all that
// was.
type signal struct {
	strings.Builder
	word string
	then context.CancelCauseFunc
}

var errStop = errors.New("enough")

func (s *signal) Write(p []byte) (int, error) {
	n, err := s.Builder.Write(p)
	if s.word != "" && strings.Contains(s.String(), s.word) {
		s.then(errStop)
	}
	return n, err
}

func shell(script string, sleep func(context.Context, time.Duration) error) child.Program {
	return child.Program{Argv: []string{"sh", "-c", script}, Sleep: sleep}
}

// living lists the processes of a group, zombies not counted.
func living(group int) (lines []string) {
	GinkgoHelper()
	table, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,args=").Output()
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if fields[0] == strconv.Itoa(group) && !strings.HasPrefix(fields[1], "Z") {
			lines = append(lines, line)
		}
	}
	return lines
}

var _ = Describe("Run", func() {
	BeforeEach(func() {
		before := gleak.Goroutines()
		DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	})

	It("gives a program its input and tells what it said and how it ended", func(ctx SpecContext) {
		var out, errs strings.Builder
		p := shell("cat; echo oops >&2; exit 3", asleep)
		p.Stdin, p.Stdout, p.Stderr = strings.Repeat("line\n", 100_000), &out, &errs
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end).To(Equal(child.Ending{Code: 3, State: "exit status 3"}))
		Expect(out.Len()).To(Equal(500_000))
		Expect(errs.String()).To(Equal("oops\n"))
	})

	It("puts both outputs together in their order", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("echo a; echo b >&2; echo c", asleep)
		p.Stdout = &out
		_, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(out.String()).To(Equal("a\nb\nc\n"))
	})

	It("runs it in its folder, with its environment", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("env; echo A is $A", asleep)
		p.Stdout, p.Dir, p.Env = &out, "/", []string{"A=b", "PWD=/wrong"}
		_, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Split(out.String(), "\n")).To(ContainElements("PWD=/", "A is b"))
		out.Reset()
		p = shell("pwd; echo $PWD", asleep)
		p.Stdout, p.Dir = &out, "."
		_, err = child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		here, err := os.Getwd()
		Expect(err).NotTo(HaveOccurred())
		Expect(out.String()).To(Equal(here + "\n" + here + "\n"))
	})

	It("is not kept by a program that does not read", func(ctx SpecContext) {
		p := shell("exit 0", asleep)
		p.Stdin = strings.Repeat("x", 1<<20)
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end.Code).To(BeZero())
	})

	It("fails if there is no such program, or no time", func(ctx SpecContext) {
		_, err := child.Run(ctx, child.Program{Argv: []string{"no-such-program"}, Sleep: asleep})
		Expect(err).To(MatchError(exec.ErrNotFound))
		_, err = child.Run(ctx, child.Program{})
		Expect(err).To(HaveOccurred())
		over, cancel := context.WithCancelCause(ctx)
		cancel(errStop)
		_, err = child.Run(over, shell("exit 0", asleep))
		Expect(err).To(MatchError(errStop))
	})

	DescribeTable("ends a program", func(ctx SpecContext, script string, grace func(context.Context, time.Duration) error, state string) {
		within, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		out := &signal{word: "ready\n", then: cancel}
		p := shell("echo group $$; "+script, grace)
		p.Stdout = out
		end, err := child.Run(within, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end.Cause).To(MatchError(errStop))
		Expect(end.State).To(Equal(state))
		group, err := strconv.Atoi(strings.Fields(out.String())[1])
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []string { return living(group) }).Should(BeEmpty())
	},
		Entry("that hangs", "echo ready; exec sleep 600", asleep, "signal: terminated"),
		Entry("that ignores SIGTERM", "trap '' TERM; echo ready; while :; do sleep 600; done", awake, "signal: killed"),
		Entry("that has children", "sleep 600 & sleep 601 & echo ready; wait", asleep, "signal: terminated"),
		Entry("that floods", "echo ready; while :; do echo flood; done", asleep, "signal: terminated"),
		Entry("that ends by itself when asked", "trap 'exit 0' TERM; echo ready; sleep 600 & wait", asleep, "exit status 0"),
	)

	It("kills what a program leaves in its group, which holds its output", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("sleep 600 & echo $$", asleep)
		p.Stdout = &out
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end).To(Equal(child.Ending{Code: 0, State: "exit status 0"}))
		group, err := strconv.Atoi(strings.TrimSpace(out.String()))
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() []string { return living(group) }).Should(BeEmpty())
	})

	It("does not wait for a descendant that left the group with the output", func(ctx SpecContext) {
		if _, err := exec.LookPath("setsid"); err != nil {
			Skip("there is no setsid here")
		}
		said := make(chan struct{})
		out := &signal{word: "\n", then: func(error) { close(said) }}
		p := shell(`setsid sh -c 'touch left; exec sleep 600' & while [ ! -e left ]; do :; done; echo $!`, func(context.Context, time.Duration) error {
			<-said
			return nil
		})
		p.Stdout, p.Dir = out, GinkgoT().TempDir()
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end).To(Equal(child.Ending{Code: 0, State: "exit status 0", Left: true}))
		Expect(exec.Command("kill", strings.TrimSpace(out.String())).Run()).To(Succeed(), "it is still there")
	})
})

var _ = It("keeps as much of a tail as is asked for", func() {
	t := child.Tail{Size: 3}
	_, _ = t.Write([]byte("ab"))
	_, _ = t.Write([]byte("c"))
	Expect(t.Cut()).To(BeFalse())
	_, _ = t.Write([]byte("def"))
	Expect(t.Cut()).To(BeTrue())
	_, _ = t.Write([]byte("g"))
	Expect(t.String()).To(Equal("efg"))
	Expect(t.Lines()).To(Equal("efg"), "there is no other line")
	_, _ = t.Write([]byte("\nh"))
	Expect(t.String()).To(Equal("g\nh"))
	Expect(t.Lines()).To(Equal("h"))
	whole := child.Tail{Size: 3}
	_, _ = whole.Write([]byte("a\nb"))
	Expect(whole.Lines()).To(Equal("a\nb"))
})
