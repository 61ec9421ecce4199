package command_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

// TestMain lets this test binary act as the driven programs.
func TestMain(m *testing.M) {
	if do := os.Getenv("COMMAND_SPEC"); do != "" {
		time.AfterFunc(time.Minute, func() { os.Exit(99) }) // a bug must not leave one behind
		play(do)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Placeholders of long texts in the output of a driven program: the maximum of a turn, and half of it.
const long, half = "{long}", "{half}"

// play runs the driven programs.
func play(do string) {
	do = strings.NewReplacer(long, strings.Repeat("x", app.MaxAnswer), half, strings.Repeat("x", app.MaxAnswer/2)).Replace(do)
	do, text, _ := strings.Cut(do, ":")
	switch do {
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "echo": // the unchanged turn
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf("%q %q\n", os.Args[1:], in)
	case "print":
		fmt.Print(strings.ReplaceAll(text, `\n`, "\n"))
	case "lines": // answers each line with a text
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println(strings.ReplaceAll(strings.ReplaceAll(text, "TURN", in.Text()), `\n`, "\n"))
		}
	case "end": // answers each line; at the end, prints a text and exits with a status
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println("Yes.")
		}
		status, last, _ := strings.Cut(text, ":")
		fmt.Print(last)
		code, _ := strconv.Atoi(status)
		os.Exit(code)
	case "fail":
		fmt.Fprintln(os.Stderr, "first\nlast")
		os.Exit(5)
	case "stay":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		select {}
	}
}

func TestCommand(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/kind/command")
}

// log is safe for concurrent use, like that of a site must be.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns the written text.
func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// site returns the site of a program with a task.
func site(do string) app.Site {
	return app.Site{
		Folder: GinkgoT().TempDir(), Home: GinkgoT().TempDir(), Clock: clock.Real(), Log: &log{},
		Env: []string{"COMMAND_SPEC=" + do, "GORACE=atexit_sleep_ms=0"},
	}
}

// self returns this test binary.
func self() string {
	GinkgoHelper()
	path, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	return path
}

// begin starts a conversation with a program with a task.
func begin(ctx SpecContext, do string, o command.Options) app.Session {
	GinkgoHelper()
	o.Run = append([]string{self()}, o.Run...)
	agent, err := command.New(o)
	Expect(err).NotTo(HaveOccurred())
	s, err := agent.Start(ctx, site(do))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) { Expect(s.End(ctx)).To(Succeed()) })
	return s
}

// talk starts a conversation whose program may fail at the end.
func talk(ctx SpecContext, do string, o command.Options) app.Session {
	GinkgoHelper()
	o.Run, o.Lives = []string{self()}, "session"
	agent, err := command.New(o)
	Expect(err).NotTo(HaveOccurred())
	s, err := agent.Start(ctx, site(do))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) { _ = s.End(ctx) })
	return s
}

// run runs a program to its end and returns what it printed.
func run(ctx context.Context, site app.Site, program command.Program) ([]byte, error) {
	var out bytes.Buffer
	program.Stdout = &out
	p, err := command.Start(site, program)
	if err != nil {
		return nil, err
	}
	err = p.Wait(ctx)
	return out.Bytes(), err
}
