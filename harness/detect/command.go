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
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// CommandConfig configures a detector that is a program.
type CommandConfig struct {
	// Argv is the program and its arguments.
	Argv []string
	// Timeout is how long an answer may take; default DefaultTimeout.
	Timeout time.Duration
	// Grace is how long the program may take to end after its input has, before
	// its process group is killed; default 2s.
	Grace time.Duration
	// Clock times answers; default: the machine's.
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
		return nil, errors.New("there is no command to run; write command:PROGRAM ARGUMENTS")
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
func (c *Command) Detect(ctx context.Context, item Item) (Prediction, error) {
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
func (c *Command) exchange(ctx context.Context, line []byte, item Item) (Prediction, error) {
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
	if errors.Is(err, io.EOF) { // it closed its output, which a program does at its end
		c.running.Await(ctx, c.cfg.Grace)
	}
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

// process is a running detector.
type process struct {
	*child.Process
	cfg    CommandConfig
	lines  *jsonl.Reader // of its standard output
	stderr child.Tail    // to be read when it has ended
}

func start(cfg CommandConfig) (*process, error) {
	p := &process{cfg: cfg}
	started, err := child.Start(context.Background(), child.Program{
		Argv: cfg.Argv, Interactive: true, Stderr: &p.stderr, Grace: cfg.Grace,
	})
	if err != nil {
		return nil, err
	}
	p.Process, p.lines = started, jsonl.NewReader(started.Stdout, maxAnswer)
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
			_, _ = p.Stdin.Write(question) // a program that has ended does not answer, which is reported
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

// kill ends the process group and returns how the program ended and the end of its
// standard error.
func (p *process) kill() (state, stderr string) {
	_ = p.Stdout.Close()
	return p.Kill().State, p.stderr.String()
}

// end lets the program end by itself for a time of grace, and kills it then.
func (p *process) end() {
	_ = p.Stdin.Close()
	_ = p.Stdout.Close() // nobody reads the rest
	p.Await(context.Background(), p.cfg.Grace)
	p.Kill()
}
