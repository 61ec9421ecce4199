package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Program describes a program to start. Only Argv is required.
type Program struct {
	// Argv is the program and its arguments. A name with a slash is relative to Dir,
	// any other name is searched for in PATH.
	Argv []string
	// Path is the file to execute; default: that of Argv[0].
	Path string
	Dir  string
	// Env is the environment, to which PWD is added; nil: that of this process.
	Env []string
	// Stdin is the text on standard input.
	Stdin string
	// Interactive makes standard input a pipe, Process.Stdin.
	Interactive bool
	// Stdout and Stderr receive the output, each from one goroutine. An error of theirs
	// ends the program. Without Stderr, Stdout receives both; without Stdout,
	// standard output is read from Process.Stdout.
	Stdout, Stderr io.Writer
	// Grace limits how long the program may take to end after SIGTERM, and how long a
	// descendant outside its group may keep the output open; 0: no limit.
	Grace time.Duration
	// Start replaces cmd.Start. It runs on a thread of its own, which ends with the program.
	Start func(cmd *exec.Cmd) error
	// Sweep is called when the program has ended, before the rest of its group is
	// killed, with the Ending known so far.
	Sweep func(group int, end Ending)
}

// Ending describes how a program ended.
type Ending struct {
	// Code is the exit status; -1 after a signal.
	Code int
	// State describes the end in words, such as "exit status 1" or "signal: killed".
	State string
	// Cause is the reason for which this process ended the program: the cause of the
	// context, an error of Stdout or Stderr, or ErrStopped. It is nil if the program
	// ended by itself.
	Cause error
	// Left reports that a descendant outside the group kept the output open for the
	// whole of Grace. It may still run.
	Left bool
}

// Unrunnable reports whether the exit status is one that shells use for a program that
// they cannot run: 126 (not executable) or 127 (not found).
func (e Ending) Unrunnable() bool { return e.Code == 126 || e.Code == 127 }

// ErrStopped is the Cause after Stop and Kill.
var ErrStopped = errors.New("the program was stopped")

// errKilled is the cause that skips SIGTERM.
var errKilled = fmt.Errorf("%w at once", ErrStopped)

// Process is a started program, the leader of a process group of its own.
type Process struct {
	// Stdin is the standard input of an interactive program.
	Stdin io.WriteCloser
	// Stdout is the standard output of a program without Program.Stdout. It must be read
	// to its end, or closed, which discards the rest.
	Stdout *io.PipeReader

	program Program
	cmd     *exec.Cmd
	cancel  context.CancelCauseFunc
	piped   *io.PipeWriter // the other end of Stdout
	outputs []*os.File
	readers sync.WaitGroup
	exited  chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	ending Ending // complete when done is closed
}

// Run runs a program to its end; see Start. A nil Stdout discards the output.
func Run(ctx context.Context, program Program) (Ending, error) {
	program.Stdout = cmp.Or(program.Stdout, io.Discard)
	p, err := Start(ctx, program)
	if err != nil {
		return Ending{}, err
	}
	return p.Wait(), nil
}

// Start starts a program in a process group of its own. When the context ends, the group
// receives SIGTERM, and SIGKILL after Grace. When the program has ended, the rest of its
// group is killed. On Linux the program is also killed when this process dies.
func Start(ctx context.Context, program Program) (*Process, error) {
	if len(program.Argv) == 0 {
		return nil, errors.New("there is no program to run")
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("not started: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &Process{program: program, cancel: cancel, exited: make(chan struct{}), done: make(chan struct{})}
	p.command(ctx)
	far, err := p.pipes()
	if err == nil {
		started := make(chan error, 1)
		go p.live(started)
		err = <-started
	}
	for _, f := range far {
		_ = f.Close()
	}
	if err != nil {
		p.closeOutputs()
		cause := context.Cause(ctx)
		cancel(nil)
		return nil, cmp.Or(cause, err)
	}
	return p, nil
}

func (p *Process) command(ctx context.Context) {
	p.cmd = exec.CommandContext(ctx, cmp.Or(p.program.Path, p.program.Argv[0]), p.program.Argv[1:]...)
	p.cmd.Args[0] = p.program.Argv[0]
	p.cmd.Dir, p.cmd.Env = p.program.Dir, p.program.Env
	if dir, err := filepath.Abs(p.program.Dir); err == nil && p.program.Env != nil {
		p.cmd.Env = append(slices.Clone(p.program.Env), "PWD="+dir) // os/exec adds it only where Env is nil
	}
	ownGroup(p.cmd)
	p.cmd.WaitDelay = p.program.Grace
	p.cmd.Cancel = func() error {
		cause := context.Cause(ctx)
		p.fail(cause)
		if errors.Is(cause, errKilled) {
			kill(p.cmd)
		} else {
			terminate(p.cmd)
		}
		return nil
	}
}

// fail records the first reason to end the program.
func (p *Process) fail(cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ending.Cause = cmp.Or(p.ending.Cause, cause)
}

// pipes connects the program, starts to copy its output and returns the program's ends
// of the pipes. The pipes are not those of os/exec: its Wait would not return before a
// descendant that inherited them has ended, and nothing would kill the group until then.
func (p *Process) pipes() (far []*os.File, err error) {
	stdout := p.program.Stdout
	if stdout == nil {
		p.Stdout, p.piped = io.Pipe()
		stdout = p.piped
	}
	for _, to := range []io.Writer{stdout, p.program.Stderr} {
		if to == nil {
			continue
		}
		from, w, err := os.Pipe()
		if err != nil {
			return far, err
		}
		far, p.outputs = append(far, w), append(p.outputs, from)
		if p.cmd.Stdout == nil {
			p.cmd.Stdout = w
		}
		p.cmd.Stderr = w
		p.readers.Go(func() { p.copy(to, from) })
	}
	if p.piped != nil {
		go func() {
			p.readers.Wait()
			_ = p.piped.Close()
		}()
	}
	if p.program.Interactive || p.program.Stdin != "" {
		p.Stdin, err = p.cmd.StdinPipe()
	}
	return far, err
}

// copy reads an output to its end, and ends the program if it cannot be written.
func (p *Process) copy(to io.Writer, from *os.File) {
	if _, err := io.Copy(to, from); err != nil && !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, os.ErrClosed) {
		p.fail(err)
		p.cancel(err)
	}
	_, _ = io.Copy(io.Discard, from)
}

func (p *Process) closeOutputs() {
	for _, f := range p.outputs {
		_ = f.Close()
	}
	if p.piped != nil {
		_ = p.piped.Close()
	}
}

// live starts the program and waits for its end. The kernel takes the end of the thread
// that started the program for the end of this process, so the goroutine keeps its
// thread, and never unlocks it, because Program.Start may have confined it.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	dieWithParent(p.cmd)
	start := p.program.Start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	err := start(p.cmd)
	started <- err
	if err != nil {
		return
	}
	if p.program.Stdin != "" {
		go func() {
			_, _ = io.WriteString(p.Stdin, p.program.Stdin) // the program need not read it
			_ = p.Stdin.Close()
		}()
	}
	_ = p.cmd.Wait() // the result is in ProcessState
	p.mu.Lock()
	p.ending.Code, p.ending.State = p.cmd.ProcessState.ExitCode(), p.cmd.ProcessState.String()
	end := p.ending
	p.mu.Unlock()
	if p.program.Sweep != nil {
		p.program.Sweep(p.cmd.Process.Pid, end)
	}
	kill(p.cmd)
	close(p.exited)
	p.drain()
	p.cancel(nil)
	close(p.done)
}

// drain waits until the output is read, for at most Grace.
func (p *Process) drain() {
	read := make(chan struct{})
	go func() {
		p.readers.Wait()
		close(read)
	}()
	var late <-chan time.Time
	if p.program.Grace > 0 {
		timer := time.NewTimer(p.program.Grace) //nolint:forbidigo // a process lives in real time
		defer timer.Stop()
		late = timer.C
	}
	left := false
	select {
	case <-read:
	case <-late:
		left = true
	}
	p.closeOutputs()
	<-read
	p.ending.Left = left
}

// Exited is closed when the program has ended and the rest of its group was killed.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Await waits until the program has ended, for at most d, and reports whether it has.
func (p *Process) Await(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d) //nolint:forbidigo // a process lives in real time
	defer timer.Stop()
	select {
	case <-p.exited:
	case <-ctx.Done():
	case <-timer.C:
	}
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// Wait waits until the program has ended and its output is read.
func (p *Process) Wait() Ending {
	<-p.done
	return p.ending
}

// Stop sends SIGTERM as the end of the context does, and waits for the program. When ctx
// ends, the program is killed.
func (p *Process) Stop(ctx context.Context) Ending {
	p.cancel(ErrStopped)
	select {
	case <-p.exited:
		return p.Wait()
	case <-ctx.Done():
		return p.Kill()
	}
}

// Kill ends the program at once, and waits for it.
func (p *Process) Kill() Ending {
	p.cancel(errKilled)
	select {
	case <-p.exited:
	default:
		p.fail(errKilled)
		kill(p.cmd)
	}
	return p.Wait()
}
