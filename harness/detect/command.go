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
	// Timeout limits the time of an answer; default DefaultTimeout.
	Timeout time.Duration
	// Grace is the time that the program has to exit after its input was closed, before its
	// process group is killed; default 2s.
	Grace time.Duration
	// Clock measures timeouts; default clock.Real().
	Clock clock.Clock
}

const (
	defaultGrace = 2 * time.Second
	// maxFailures is the number of consecutive failures after which the program is not started
	// again.
	maxFailures = 3
)

// Command is a detector in another process. The program is started once; it reads each question
// from a line of its standard input, {"id", "text", "lang"}, and writes the answer to a line of its
// standard output, {"id", "positive", …}. If it answers late or malformed, or exits, the item fails
// and the program is restarted for the next one. The caller must close it.
type Command struct {
	cfg CommandConfig

	mu       sync.Mutex // one question at a time
	running  *process   // nil before the first question and after a failure
	failures int        // in a row
	last     error      // the newest of them
}

// NewCommand returns the detector without starting the program, or an error if there is no such
// program.
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

// AtOnce returns 1: the program answers one question at a time.
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

// exchange asks the running program, and starts it if necessary.
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
	// The program's next line could answer any question.
	if errors.Is(err, io.EOF) { // it closed its output, which a program does at its end
		c.running.Await(ctx, c.cfg.Grace)
	}
	end, stderr := c.running.kill()
	c.running = nil
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("the detector ended without an answer: %s", end)
	}
	if stderr != "" {
		err = fmt.Errorf("%w; standard error: %s", err, sanitize.Line(stderr, maxQuote))
	}
	return Prediction{}, err
}

// Close closes the program's input, and kills the program after the grace period.
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

// ask writes a question and reads a line. After an error the caller must kill the process, which
// also ends the goroutines of ask.
func (p *process) ask(ctx context.Context, question []byte) ([]byte, error) {
	ctx, cancel := p.cfg.Clock.WithTimeout(ctx, p.cfg.Timeout)
	defer cancel()
	type answer struct {
		line []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		// The program may answer before it has read the whole question, so write and read
		// concurrently.
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = p.Stdin.Write(question) // a program that has ended does not answer, which is reported
		}()
		line, err := p.lines.Next()
		<-written
		done <- answer{line, err}
	}()
	select {
	case a := <-done:
		return a.line, a.err
	case <-ctx.Done():
	}
	if err := clock.Err(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return nil, fmt.Errorf("no answer from the detector within %s: %w", p.cfg.Timeout, context.DeadlineExceeded)
}

// kill ends the process group. It returns how the program ended and the tail of its standard error.
func (p *process) kill() (state, stderr string) {
	_ = p.Stdout.Close()
	return p.Kill().State, p.stderr.String()
}

// end waits for the program to exit by itself, and kills it after the grace period.
func (p *process) end() {
	_ = p.Stdin.Close()
	_ = p.Stdout.Close() // unblocks a reader
	p.Await(context.Background(), p.cfg.Grace)
	p.Kill()
}
