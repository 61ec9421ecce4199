package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/onsi/gomega"
	"github.com/rogpeppe/go-internal/testscript"
)

// exits CODE command args... runs the command, which must exit with CODE.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want := number(ts, args, 2)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("cannot run %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s exits with %d, want %d", args[1], got, want)
	}
}

// begun is a command that begin started.
type begun struct {
	*exec.Cmd
	ended chan struct{}
}

type begunKey struct{}

func commands(ts *testscript.TestScript) map[string]*begun {
	return ts.Value(begunKey{}).(map[string]*begun)
}

// environment are the variables that a command of begin gets from the script.
var environment = []string{
	"PATH", "HOME", "TMPDIR", "REHEARSE_OFFLINE", "NO_COLOR", "OPENAI_BASE_URL", "OPENAI_API_KEY", "GORACE",
	"OTEL_EXPORTER_OTLP_ENDPOINT", "REHEARSE_TOKEN",
}

// begin NAME command args... starts a command in the background. Its outputs go to the
// files NAME.out and NAME.err; whatever is left of it ends with the script.
func begin(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: begin NAME command args...")
	}
	create := func(suffix string) *os.File {
		file, err := os.Create(ts.MkAbs(args[0] + suffix))
		ts.Check(err)
		return file
	}
	stdout, stderr := create(".out"), create(".err")
	defer stdout.Close()
	defer stderr.Close()
	c := &begun{Cmd: exec.Command(args[1], args[2:]...), ended: make(chan struct{})}
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), stdout, stderr
	for _, name := range environment {
		c.Env = append(c.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(c.Start())
	go func() { defer close(c.ended); _ = c.Wait() }()
	ts.Defer(func() { _ = c.Process.Kill(); <-c.ended })
	commands(ts)[args[0]] = c
}

// awaits FILE REGEXP waits until the file has such a text.
func awaits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: awaits FILE REGEXP")
	}
	g := gomega.NewGomega(func(message string, _ ...int) { ts.Fatalf("%s: %s", args[0], message) })
	g.Eventually(func() string {
		text, _ := os.ReadFile(ts.MkAbs(args[0])) // not there yet
		return string(text)
	}).WithTimeout(time.Minute).Should(gomega.MatchRegexp(args[1]))
}

// ends CODE NAME [SIGNAL] sends a signal to a command of begin and waits for its
// end. CODE is its expected exit status; -1 means that the signal ended it.
func ends(ts *testscript.TestScript, _ bool, args []string) {
	want := number(ts, args, 2)
	c := commands(ts)[args[1]]
	if c == nil {
		ts.Fatalf("%s was not begun", args[1])
	}
	if len(args) > 2 {
		signal, ok := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}[args[2]]
		if !ok {
			ts.Fatalf("no signal %s", args[2])
		}
		ts.Check(c.Process.Signal(signal))
	}
	<-c.ended
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("%s exits with %d, want %d; it said:\n%s", args[1], got, want, ts.ReadFile(args[1]+".err"))
	}
}

// cut FILE N removes the last N bytes of a file.
func cut(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: cut FILE N")
	}
	n := number(ts, args[1:], 1)
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.Truncate(file, int64(len(data)-n)))
}

// let VARIABLE FILE sets a variable to the first line of a file.
func let(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: let VARIABLE FILE")
	}
	line, _, _ := bytes.Cut([]byte(ts.ReadFile(args[1])), []byte("\n"))
	ts.Setenv(args[0], strings.TrimSpace(string(line)))
}

// number is the first of at least least arguments.
func number(ts *testscript.TestScript, args []string, least int) int {
	if len(args) < least {
		ts.Fatalf("too few arguments: %q", args)
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	return n
}
