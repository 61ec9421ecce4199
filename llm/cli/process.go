package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/child"
)

// ending is how a process ended.
type ending struct {
	code    int    // exit status; -1 if a signal ended it
	stderr  string // the end of standard error
	stopped bool   // we ended it: the context's end, or no exit after the answer
	cause   error  // ErrFlood, or why the context ended
}

// process is a running agent: the leader of a process group of its own, and the
// near ends of its pipes. The pipes are ours rather than os/exec's, because a
// grandchild that keeps them open must not delay the news that the leader is
// gone.
type process struct {
	cmd            *exec.Cmd
	free           func() // frees the thread of who started it
	cfg            Config
	stdin          *os.File // nil if there is nothing to read
	stdout, stderr *os.File

	alive    context.Context // ends when the leader has exited
	exited   context.CancelFunc
	reading  context.Context // ends when both outputs are read
	read     context.CancelFunc
	answered chan struct{} // closed when the final event was seen
}

// run starts the agent and calls line for each line of its output, until line
// reports the final event and the agent has exited. On return nothing of the
// process group is left. The error is that of starting.
func run(ctx context.Context, l launch, cfg Config, line func([]byte) (final bool)) (ending, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, err := start(l, cfg)
	if err != nil {
		return ending{}, err
	}
	defer p.free()
	var end ending
	var errTail child.Tail
	var readers, others sync.WaitGroup
	var log io.Writer = &errTail
	if cfg.Log != nil {
		log = io.MultiWriter(log, cfg.Log)
	}
	readers.Go(func() { _, _ = io.Copy(log, p.stderr) })
	others.Go(func() { p.feed(l.stdin) })
	others.Go(p.wait)
	others.Go(func() { end.stopped = p.supervise(ctx) })

	final := false
	err = eachLine(p.stdout, maxLine, cfg.MaxOutput, func(b []byte) {
		if line(b) && !final {
			final = true
			close(p.answered)
		}
	})
	if err != nil {
		cancel(err)
	}
	_ = p.stdout.Close() // a flooding agent gets a broken pipe
	readers.Wait()
	p.read()
	others.Wait()
	_ = p.stderr.Close()
	if end.stopped || err != nil {
		end.cause = clock.Err(ctx)
	}
	end.code = p.cmd.ProcessState.ExitCode()
	end.stderr = errTail.String()
	return end, nil
}

// start makes the pipes and starts the program.
func start(l launch, cfg Config) (*process, error) {
	p := &process{cmd: exec.Command(l.argv[0], l.argv[1:]...), cfg: cfg, answered: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = l.dir, l.env
	child.OwnGroup(p.cmd)
	p.free = child.NoOrphan(p.cmd)
	var far, near []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			_ = f.Close()
		}
	}
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			far, near = append(far, w), append(near, r)
		}
		return r, w, err
	}
	defer func() { closeAll(far) }()
	var err1, err2, err3 error
	var w1, w2 *os.File
	p.stdout, w1, err1 = pipe()
	p.stderr, w2, err2 = pipe()
	p.cmd.Stdout, p.cmd.Stderr = w1, w2
	if l.stdin != nil {
		var r *os.File
		if r, p.stdin, err3 = os.Pipe(); err3 == nil {
			p.cmd.Stdin = r
			far, near = append(far, r), append(near, p.stdin)
		}
	}
	err := errors.Join(err1, err2, err3)
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.free()
		closeAll(near)
		return nil, err
	}
	p.alive, p.exited = context.WithCancel(context.Background())
	p.reading, p.read = context.WithCancel(context.Background())
	return p, nil
}

// feed writes the prompt and closes standard input. It ends early, by a broken
// pipe, when the group is gone.
func (p *process) feed(text *string) {
	if p.stdin == nil {
		return
	}
	_, _ = io.WriteString(p.stdin, *text)
	_ = p.stdin.Close()
}

// wait reaps the leader and then kills what it left in its group. What they had
// written stays readable. A descendant that left the group may still hold the
// pipes: after Grace they are closed on it.
func (p *process) wait() {
	_ = p.cmd.Wait() // its outcome is in ProcessState
	child.Kill(p.cmd)
	p.exited()
	if p.cfg.Clock.Sleep(p.reading, p.cfg.Grace) == nil {
		_ = p.stdout.Close()
		_ = p.stderr.Close()
	}
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
}

// supervise ends the process when ctx ends, or when Grace has passed since the
// final event: SIGTERM to the group, and SIGKILL after Grace. It returns when
// the leader is gone, and reports whether it had to act.
func (p *process) supervise(ctx context.Context) (stopped bool) {
	select {
	case <-p.alive.Done():
		return false
	case <-ctx.Done():
	case <-p.answered:
		linger, cancel := p.cfg.Clock.WithTimeout(ctx, p.cfg.Grace)
		defer cancel()
		select {
		case <-p.alive.Done():
			return false
		case <-linger.Done():
		}
	}
	child.Terminate(p.cmd)
	if p.cfg.Clock.Sleep(p.alive, p.cfg.Grace) == nil {
		child.Kill(p.cmd)
	}
	<-p.alive.Done()
	return true
}
