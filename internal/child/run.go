package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Program is a program that is run to its end.
type Program struct {
	// Argv is the program and its arguments. A program with a slash in its name is
	// looked for in Dir, another one in the PATH.
	Argv []string
	Dir  string
	// Env is its environment, to which PWD is added; nil: this process's.
	Env []string
	// Stdin is what it reads; empty: nothing.
	Stdin string
	// Stdout and Stderr are told what it says, each by one goroutine; without Stderr
	// both go to Stdout.
	Stdout, Stderr io.Writer
	// Grace is how long it may take to end after it was asked to, and how long a
	// descendant that left its group may hold its output open.
	Grace time.Duration
	// Sleep waits on the caller's clock, as clock.Clock does.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Ending is how a program ended.
type Ending struct {
	// Code is the exit status; -1 if a signal ended it.
	Code int
	// State says in words how it ended, such as "exit status 1" or "signal: killed".
	State string
	// Cause is why it was ended from here, which is why the context ended; nil if it
	// ended by itself.
	Cause error
	// Left says that a descendant that left the group held the output open for the
	// whole of Grace. It was not ended.
	Left bool
}

// Unrunnable reports whether the exit status is one of those by which shells say
// that they could not run a program: 126 (not executable) and 127 (not found).
func (e Ending) Unrunnable() bool { return e.Code == 126 || e.Code == 127 }

// Run runs a program as the leader of a process group of its own. When the context
// ends, the group is asked to end and killed after Grace; when the leader has
// ended, whatever it left in its group is killed. However much it says, and
// whatever it leaves behind, Run returns. On Linux the leader dies with this process,
// however that dies. The error is that of starting.
func Run(ctx context.Context, p Program) (Ending, error) {
	r := running{Program: p}
	if len(p.Argv) == 0 {
		return Ending{}, errors.New("there is no program to run")
	}
	if err := context.Cause(ctx); err != nil {
		return Ending{}, fmt.Errorf("not started: %w", err)
	}
	r.command()
	defer NoOrphan(r.cmd)()
	if err := r.start(); err != nil {
		return Ending{}, err
	}
	var readers, others sync.WaitGroup
	for _, out := range r.outputs {
		readers.Go(func() { _, _ = io.Copy(out.to, out.from) })
	}
	others.Go(r.feed)
	others.Go(r.wait)
	var cause error
	others.Go(func() { cause = r.supervise(ctx) })
	readers.Wait()
	r.read()
	others.Wait()
	r.closeNear()
	return Ending{Code: r.cmd.ProcessState.ExitCode(), State: r.cmd.ProcessState.String(), Cause: cause, Left: r.left}, nil
}

// running is a program under way, with the near ends of its pipes. The pipes are
// ours rather than os/exec's, because a grandchild that keeps them open must not
// delay the news that the leader is gone.
type running struct {
	Program
	cmd     *exec.Cmd
	stdin   *os.File // nil if there is nothing to read
	outputs []output
	left    bool

	alive   context.Context // ends when the leader has exited
	exited  context.CancelFunc
	reading context.Context // ends when the outputs are read
	read    context.CancelFunc
}

type output struct {
	from *os.File
	to   io.Writer
}

func (r *running) command() {
	r.cmd = exec.Command(r.Argv[0], r.Argv[1:]...)
	r.cmd.Dir, r.cmd.Env = r.Dir, r.Env
	if dir, err := filepath.Abs(r.Dir); err == nil && r.Env != nil {
		r.cmd.Env = append(slices.Clone(r.Env), "PWD="+dir) // os/exec does so only where Env is nil
	}
	OwnGroup(r.cmd)
}

func (r *running) start() error {
	far, err := r.pipes()
	if err == nil {
		err = r.cmd.Start()
	}
	for _, f := range far {
		_ = f.Close()
	}
	if err != nil {
		r.closeNear()
		return err
	}
	r.alive, r.exited = context.WithCancel(context.Background())
	r.reading, r.read = context.WithCancel(context.Background())
	return nil
}

// pipes connects the program and returns its ends.
func (r *running) pipes() (far []*os.File, err error) {
	for _, to := range []io.Writer{r.Stdout, r.Stderr} {
		if to == nil {
			continue
		}
		from, w, err := os.Pipe()
		if err != nil {
			return far, err
		}
		far = append(far, w)
		r.outputs = append(r.outputs, output{from, to})
		if len(r.outputs) == 1 {
			r.cmd.Stdout = w
		}
		r.cmd.Stderr = w
	}
	if r.Stdin == "" {
		return far, nil
	}
	in, w, err := os.Pipe()
	if err != nil {
		return far, err
	}
	r.cmd.Stdin, r.stdin = in, w
	return append(far, in), nil
}

func (r *running) closeNear() {
	for _, out := range r.outputs {
		_ = out.from.Close()
	}
	if r.stdin != nil {
		_ = r.stdin.Close()
	}
}

// feed writes standard input and closes it. It ends early, by a broken pipe, when
// the group is gone.
func (r *running) feed() {
	if r.stdin == nil {
		return
	}
	_, _ = io.WriteString(r.stdin, r.Stdin)
	_ = r.stdin.Close()
}

// wait reaps the leader and then kills what it left in its group. What they had
// written stays readable. A descendant that left the group may still hold the
// pipes: after Grace they are closed on it.
func (r *running) wait() {
	_ = r.cmd.Wait() // its outcome is in ProcessState
	Kill(r.cmd)
	r.exited()
	if r.left = r.Sleep(r.reading, r.Grace) == nil; r.left {
		r.closeNear()
	}
	if r.stdin != nil {
		_ = r.stdin.Close()
	}
}

// supervise ends the program when ctx ends, and says why it had to.
func (r *running) supervise(ctx context.Context) error {
	select {
	case <-r.alive.Done():
		return nil
	case <-ctx.Done():
	}
	Terminate(r.cmd)
	if r.Sleep(r.alive, r.Grace) == nil {
		Kill(r.cmd)
	}
	<-r.alive.Done()
	return context.Cause(ctx)
}
