//go:build unix

package child_test

import (
	"bufio"
	"context"
	"errors"
	"io"
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

// Graces of the specs: one that has no limit, and one that is over at once.
const (
	endless time.Duration = 0
	none                  = time.Nanosecond
)

// signal cancels a context with errStop when a text was printed, and stores all that
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

func shell(script string, grace time.Duration) child.Program {
	return child.Program{Argv: []string{"sh", "-c", script}, Grace: grace}
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

	It("passes input to a program, and returns its output and how it ended", func(ctx SpecContext) {
		var out, errs strings.Builder
		p := shell("cat; echo oops >&2; exit 3", endless)
		p.Stdin, p.Stdout, p.Stderr = strings.Repeat("line\n", 100_000), &out, &errs
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end).To(Equal(child.Ending{Code: 3, State: "exit status 3"}))
		Expect(out.Len()).To(Equal(500_000))
		Expect(errs.String()).To(Equal("oops\n"))
	})

	It("puts both outputs together in their order", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("echo a; echo b >&2; echo c", endless)
		p.Stdout = &out
		_, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(out.String()).To(Equal("a\nb\nc\n"))
	})

	It("runs it in its folder, with its environment", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("env; echo A is $A", endless)
		p.Stdout, p.Dir, p.Env = &out, "/", []string{"A=b", "PWD=/wrong"}
		_, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Split(out.String(), "\n")).To(ContainElements("PWD=/", "A is b"))
		out.Reset()
		p = shell("pwd; echo $PWD", endless)
		p.Stdout, p.Dir = &out, "."
		_, err = child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		here, err := os.Getwd()
		Expect(err).NotTo(HaveOccurred())
		Expect(out.String()).To(Equal(here + "\n" + here + "\n"))
	})

	It("is not kept by a program that does not read", func(ctx SpecContext) {
		p := shell("exit 0", endless)
		p.Stdin = strings.Repeat("x", 1<<20)
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end.Code).To(BeZero())
	})

	It("fails if the program does not exist, or without time", func(ctx SpecContext) {
		_, err := child.Run(ctx, child.Program{Argv: []string{"no-such-program"}})
		Expect(err).To(MatchError(exec.ErrNotFound))
		_, err = child.Run(ctx, child.Program{})
		Expect(err).To(HaveOccurred())
		over, cancel := context.WithCancelCause(ctx)
		cancel(errStop)
		_, err = child.Run(over, shell("exit 0", endless))
		Expect(err).To(MatchError(errStop))
	})

	DescribeTable("ends a program", func(ctx SpecContext, script string, grace time.Duration, state string) {
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
		Entry("that hangs", "echo ready; exec sleep 600", endless, "signal: terminated"),
		Entry("that ignores SIGTERM", "trap '' TERM; echo ready; while :; do sleep 600; done", none, "signal: killed"),
		Entry("that has children", "sleep 600 & sleep 601 & echo ready; wait", endless, "signal: terminated"),
		Entry("that floods", "echo ready; while :; do echo flood; done", endless, "signal: terminated"),
		Entry("that ends by itself when asked", "trap 'exit 0' TERM; echo ready; sleep 600 & wait", endless, "exit status 0"),
	)

	It("kills what a program leaves in its group, which holds its output", func(ctx SpecContext) {
		var out strings.Builder
		p := shell("sleep 600 & echo $$", endless)
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
		out := new(strings.Builder)
		p := shell(`setsid sh -c 'touch left; exec sleep 600' & while [ ! -e left ]; do :; done; echo $!`, 500*time.Millisecond)
		p.Stdout, p.Dir = out, GinkgoT().TempDir()
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(end).To(Equal(child.Ending{Code: 0, State: "exit status 0", Left: true}))
		Expect(exec.Command("kill", strings.TrimSpace(out.String())).Run()).To(Succeed(), "it is still there")
	})
})

var _ = Describe("a started program", func() {
	BeforeEach(func() {
		before := gleak.Goroutines()
		DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	})

	It("is talked to over its pipes", func(ctx SpecContext) {
		p := shell("cat; exit 3", endless)
		p.Interactive = true
		cat, err := child.Start(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		out := bufio.NewReader(cat.Stdout)
		for _, line := range []string{"one\n", "two\n"} {
			Expect(io.WriteString(cat.Stdin, line)).To(Equal(len(line)))
			Expect(out.ReadString('\n')).To(Equal(line))
		}
		Expect(cat.Await(ctx, time.Millisecond)).To(BeFalse())
		Expect(cat.Stdin.Close()).To(Succeed())
		_, err = out.ReadString('\n')
		Expect(err).To(MatchError(io.EOF))
		Expect(cat.Wait()).To(Equal(child.Ending{Code: 3, State: "exit status 3"}))
		Expect(cat.Await(ctx, 0)).To(BeTrue())
		Expect(cat.Stop(ctx).Cause).NotTo(HaveOccurred(), "it had ended by itself")
	})

	It("is not kept by a reader that has left", func(ctx SpecContext) {
		p, err := child.Start(ctx, shell("yes | head -c 1000000; exit 4", endless))
		Expect(err).NotTo(HaveOccurred())
		Expect(p.Stdout.Close()).To(Succeed())
		Expect(p.Wait()).To(Equal(child.Ending{Code: 4, State: "exit status 4"}))
	})

	It("ends when its output cannot be written, even if it has ended by then", func(ctx SpecContext) {
		for _, script := range []string{"echo full; exec sleep 600", "echo full"} {
			p := shell(script, endless)
			p.Stdout = full{}
			end, err := child.Run(ctx, p)
			Expect(err).NotTo(HaveOccurred())
			Expect(end.Cause).To(MatchError(errStop))
		}
	})

	DescribeTable("is stopped with its group", func(ctx SpecContext, stop func(context.Context, *child.Process) child.Ending, state, output string) {
		started, err := child.Start(ctx, shell("trap 'echo asked; exit 5' TERM; sleep 600 & echo ready; wait", endless))
		Expect(err).NotTo(HaveOccurred())
		out := bufio.NewReader(started.Stdout)
		Expect(out.ReadString('\n')).To(Equal("ready\n"))
		rest := make(chan string, 1)
		go func() {
			text, _ := io.ReadAll(out) // ends with the last of the group
			rest <- string(text)
		}()
		end := stop(ctx, started)
		Expect(end.Cause).To(MatchError(child.ErrStopped))
		Expect(end.State).To(Equal(state))
		Expect(<-rest).To(Equal(output))
		Expect(stop(ctx, started)).To(Equal(end))
	},
		Entry("in order", func(ctx context.Context, p *child.Process) child.Ending { return p.Stop(ctx) }, "exit status 5", "asked\n"),
		Entry("at once", func(_ context.Context, p *child.Process) child.Ending { return p.Kill() }, "signal: killed", ""),
	)

	It("is killed when there is no more time to stop it", func(ctx SpecContext) {
		started, err := child.Start(ctx, shell("trap '' TERM; echo ready; while :; do sleep 600; done", endless))
		Expect(err).NotTo(HaveOccurred())
		Expect(bufio.NewReader(started.Stdout).ReadString('\n')).To(Equal("ready\n"))
		over, cancel := context.WithCancel(ctx)
		cancel()
		Expect(started.Stop(over).State).To(Equal("signal: killed"))
	})

	It("is swept before the rest of its group is killed", func(ctx SpecContext) {
		p := shell("sleep 600 & exit 6", endless)
		var during []string
		var known child.Ending
		p.Sweep = func(group int, end child.Ending) { during, known = living(group), end }
		end, err := child.Run(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(during).To(ConsistOf(ContainSubstring("sleep 600")))
		Expect(known).To(Equal(end))
	})
})

// full is a writer that fails.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errStop }

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
