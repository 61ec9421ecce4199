package detect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/corpus"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/linereader"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// CommandConfig says how a command is run that detects.
type CommandConfig struct {
	// Argv is the program and its arguments.
	Argv []string
	// Timeout is how long an answer may take; default DefaultTimeout.
	Timeout time.Duration
	// Grace is how long the program may take to end after its input has, before
	// its process group is killed; default 2s.
	Grace time.Duration
	// Clock times both; default: the machine's. A child process lives in real time.
	Clock clock.Clock
}

const (
	defaultGrace = 2 * time.Second
	// maxFailures is how many failures in a row there may be before the program is
	// not started any more.
	maxFailures = 3
)

// Command is a detector in another process. It reads a question on a line of its
// standard input, {"id", "text", "lang"}, and writes the answer as a line of its
// standard output, {"id", "positive", …}, before it gets the next one. It is
// started once. One that answers late, answers nonsense or dies has failed on
// that item; it is killed and started anew for the next. The caller closes it.
type Command struct {
	cfg CommandConfig

	mu       sync.Mutex // one question at a time
	running  *process   // nil before the first question and after a failure
	failures int        // in a row
	last     error      // the newest of them
}

// NewCommand returns the detector without starting anything, or an error if there
// is no such program.
func NewCommand(cfg CommandConfig) (*Command, error) {
	if len(cfg.Argv) == 0 {
		return nil, errors.New("there is no command to run; say command:PROGRAM ARGUMENTS")
	}
	if _, err := exec.LookPath(cfg.Argv[0]); err != nil {
		return nil, fmt.Errorf("the detector cannot be run: %w", err)
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Grace <= 0 {
		cfg.Grace = defaultGrace
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	return &Command{cfg: cfg}, nil
}

// Name implements Detector.
func (c *Command) Name() string { return "command:" + strings.Join(c.cfg.Argv, " ") }

// AtOnce implements Limited.
func (c *Command) AtOnce() int { return 1 }

// Detect implements Detector.
func (c *Command) Detect(ctx context.Context, item corpus.Item) (Prediction, error) {
	line, err := encode(item)
	if err != nil {
		return Prediction{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures >= maxFailures {
		return Prediction{}, fmt.Errorf("the detector failed %d times in a row and is not started again: %w", c.failures, c.last)
	}
	p, err := c.exchange(ctx, append(line, '\n'), item)
	switch {
	case err == nil:
		c.failures = 0
	case clock.Err(ctx) == nil: // otherwise it is not the program's fault
		c.failures++
		c.last = err
	}
	return p, err
}

// exchange asks the running program, which it starts if need be.
func (c *Command) exchange(ctx context.Context, line []byte, item corpus.Item) (Prediction, error) {
	if c.running == nil {
		p, err := start(c.cfg)
		if err != nil {
			return Prediction{}, fmt.Errorf("start the detector: %w", err)
		}
		c.running = p
	}
	raw, err := c.running.ask(ctx, line)
	if err == nil {
		var p Prediction
		if p, err = decode(raw, item); err == nil {
			return p, nil
		}
	}
	// What a confused program says next may belong to any question.
	end, said := c.running.kill()
	c.running = nil
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the detector ended without an answer: %s", end)
	}
	if said != "" {
		err = fmt.Errorf("%w; it said on standard error: %s", err, sanitize.Line(said, maxQuote))
	}
	return Prediction{}, err
}

// Close ends the program: its input ends, and after a time of grace it is killed.
func (c *Command) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running != nil {
		c.running.end()
		c.running = nil
	}
	return nil
}

// process is a program under way, the leader of a process group of its own.
type process struct {
	cfg    CommandConfig
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *io.PipeReader
	lines  *linereader.Reader // of stdout
	stderr child.Tail         // to be read once gone has ended

	gone context.Context // ends when nothing of the program is left
}

// start starts the program. Its outputs are copied by os/exec, whose WaitDelay
// keeps a descendant that left the group from holding them open for ever.
func start(cfg CommandConfig) (*process, error) {
	stdout, out := io.Pipe()
	p := &process{
		cfg: cfg, cmd: exec.Command(cfg.Argv[0], cfg.Argv[1:]...),
		stdout: stdout, lines: linereader.New(stdout, maxAnswer),
	}
	child.OwnGroup(p.cmd)
	p.cmd.WaitDelay = cfg.Grace
	p.cmd.Stdout, p.cmd.Stderr = out, &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	gone, isGone := context.WithCancel(context.Background())
	p.gone = gone
	go func() {
		defer isGone()
		_ = p.cmd.Wait() // how it ended is in ProcessState
		child.Kill(p.cmd)
		_ = out.Close()
	}()
	return p, nil
}

// ask writes a question and reads a line. After an error the process is to be
// killed, which also ends what is still under way here.
func (p *process) ask(ctx context.Context, question []byte) ([]byte, error) {
	ctx, cancel := p.cfg.Clock.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	type said struct {
		line []byte
		err  error
	}
	done := make(chan said, 1)
	go func() {
		// A program may answer before it has read all: both at once.
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = p.stdin.Write(question) // a program that is gone answers nothing, which is what is told
		}()
		line, err := p.lines.Next()
		<-written
		done <- said{line, err}
	}()
	select {
	case s := <-done:
		return s.line, s.err
	case <-ctx.Done():
	}
	if err := clock.Err(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return nil, fmt.Errorf("the detector gave no answer within %s: %w", p.cfg.Timeout, context.DeadlineExceeded)
}

// kill ends the process group and tells how the program ended and what it said on
// standard error.
func (p *process) kill() (end, said string) {
	child.Kill(p.cmd)
	_ = p.stdout.Close()
	<-p.gone.Done()
	return p.cmd.ProcessState.String(), p.stderr.String()
}

// end lets the program end by itself, or kills it.
func (p *process) end() {
	_ = p.stdin.Close()
	_ = p.stdout.Close() // whatever it still says is of no interest
	if p.cfg.Clock.Sleep(p.gone, p.cfg.Grace) == nil {
		p.kill()
	}
}
