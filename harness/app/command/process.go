package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxOutput is how many bytes a program may print in a turn unless it is told else.
	maxOutput = 4 << 20
	// maxErrors is how many bytes it may write to standard error while it lives.
	maxErrors = 64 << 20
	// grace is how long a program may take to end once it was asked to, and how long a
	// descendant may hold its output open.
	grace = time.Second
)

// Program is a program that is started in a site.
type Program struct {
	// Argv is the program, which is looked for in PATH unless it has a slash, and its
	// arguments. It runs in the site's folder.
	Argv []string
	// Env are NAME=value pairs on top of those of Environ.
	Env []string
	// Stdout is told what it prints, by one goroutine. An error of it ends the program,
	// and becomes the error of Wait if it is an *app.Error. Nil is the site's log.
	Stdout io.Writer
	// MaxOutput is used by Run: how many bytes it may print; default 4 MiB.
	MaxOutput int
	// Input says that standard input is a pipe, Process.Stdin.
	Input bool
}

// Process is a program that was started.
type Process struct {
	// Stdin is the program's standard input where the Program says Input; a write to it
	// fails when the program has ended.
	Stdin io.WriteCloser

	name    string
	site    app.Site
	cmd     *exec.Cmd
	errors  child.Tail
	alive   context.Context // ends when the leader has ended and its group is gone
	ended   context.CancelFunc
	reading context.Context // ends when the outputs are read
	read    context.CancelFunc
	near    []io.Closer

	mu      sync.Mutex
	stopped bool  // it was ended from here
	broken  error // why it was, where an output was the reason
	left    []string
}

// look finds the program, or says that it is missing.
func look(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path) // it is started in another folder
	}
	if err != nil {
		if reason := errors.Unwrap(err); reason != nil {
			err = reason
		}
		mend := "install it, or correct its name"
		if errors.Is(err, fs.ErrPermission) {
			mend = "make it executable, or name the program that runs it"
		}
		return "", app.Errorf(app.Unusable, "the program %q cannot be started: %w; %s", name, err, mend)
	}
	return path, nil
}

// Start starts a program. Whoever starts it must call Stop, and may call Wait before.
// The error is an *app.Error.
func Start(site app.Site, program Program) (*Process, error) {
	path, err := look(program.Argv[0])
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(Temp(site), 0o700); err != nil {
		return nil, app.Errorf(app.Unusable, "make a folder for temporary files: %w", err)
	}
	p := &Process{
		name: filepath.Base(program.Argv[0]), site: site, cmd: exec.Command(path, program.Argv[1:]...),
		errors: child.Tail{Size: maxLastWords},
	}
	p.cmd.Args[0] = program.Argv[0]
	p.cmd.Dir, p.cmd.Env = site.Folder, Environ(site, program.Env)
	child.OwnGroup(p.cmd)
	adopt()
	if program.Stdout == nil {
		program.Stdout = p.log()
	}
	p.alive, p.ended = context.WithCancel(context.Background())
	p.reading, p.read = context.WithCancel(context.Background())
	if err := p.start(program); err != nil {
		p.close()
		mend := ""
		if errors.Is(err, syscall.E2BIG) {
			mend = "; an argument is too long for this system: hand the turn over by standard input or a file"
		}
		return nil, app.Errorf(app.Unusable, "the program %q cannot be started: %w%s", p.name, err, mend)
	}
	return p, nil
}

// log is where the program writes what is no answer.
func (p *Process) log() io.Writer {
	if p.site.Log == nil {
		return io.Discard
	}
	return p.site.Log
}

// start makes the pipes, starts the program and has its outputs read. The pipes are
// ours rather than os/exec's, because a descendant that keeps them open must not delay
// the news that the program has ended.
func (p *Process) start(program Program) error {
	var far []io.Closer
	defer func() {
		for _, f := range far {
			_ = f.Close()
		}
	}()
	pipe := func() (r, w *os.File, err error) {
		r, w, err = os.Pipe()
		if err == nil {
			far, p.near = append(far, w), append(p.near, r)
		}
		return r, w, err
	}
	stdout, w, err := pipe()
	if err != nil {
		return err
	}
	p.cmd.Stdout = w
	stderr, w, err := pipe()
	if err != nil {
		return err
	}
	p.cmd.Stderr = w
	if program.Input {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		far, p.near = append(far, r), append(p.near, w)
		p.cmd.Stdin, p.Stdin = r, w
	}
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		return err
	}
	go p.copyAll(program.Stdout, stdout, stderr)
	return nil
}

// live starts the program and sees it end. One goroutine does both: see child.NoOrphan. It
// ends with its thread, which child.Confine has taken rights from.
func (p *Process) live(started chan<- error) {
	child.NoOrphan(p.cmd)
	start := p.cmd.Start
	if p.site.Within != nil {
		start = func() error { return p.site.Within(p.cmd.Start) }
	}
	err := child.Confine()
	if err == nil {
		err = start()
	}
	if err == nil {
		limit(p.cmd.Process.Pid)
	}
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // its outcome is in ProcessState
	left := p.sweep()
	p.mu.Lock()
	p.left = left
	p.mu.Unlock()
	p.ended()
	// Whoever left the group may hold the outputs open, but not for long.
	if p.site.Clock.Sleep(p.reading, grace) == nil {
		p.close()
	}
}

// copyAll reads the outputs to their ends.
func (p *Process) copyAll(to io.Writer, stdout, stderr io.Reader) {
	var readers sync.WaitGroup
	readers.Go(func() { p.copy(to, stdout) })
	readers.Go(func() {
		log := &bounded{to: io.MultiWriter(&p.errors, p.log()), limit: maxErrors, what: "standard error"}
		p.copy(log, stderr)
	})
	readers.Wait()
	p.read()
}

// copy reads an output to its end, and ends the program if nobody wants the rest.
func (p *Process) copy(to io.Writer, from io.Reader) {
	_, err := io.Copy(to, from)
	failed, ok := errors.AsType[*app.Error](err)
	if !ok {
		return
	}
	p.mu.Lock()
	if p.broken == nil {
		p.broken = failed
	}
	p.mu.Unlock()
	child.Kill(p.cmd)
	_, _ = io.Copy(io.Discard, from)
}

func (p *Process) close() {
	for _, f := range p.near {
		_ = f.Close()
	}
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.alive.Done() }

// Wait waits until the program has ended and what it wrote is read, or ctx ends; it is
// stopped then, and the error is the context's cause. Else the error says how the
// program failed: an *app.Error, nil for exit status 0.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.alive.Done():
	case <-ctx.Done():
		_ = p.Stop(context.WithoutCancel(ctx))
		return context.Cause(ctx)
	}
	<-p.reading.Done()
	p.close()
	return p.failure()
}

// Stop ends the program, and everything that it started, and waits until it is gone.
// It may be called again. When ctx ends, the program is not given more time. The error
// says what the program left behind if it had ended by itself.
func (p *Process) Stop(ctx context.Context) error { return p.end(ctx, grace) }

// Kill is Stop without time for the program to end in order.
func (p *Process) Kill(ctx context.Context) error { return p.end(ctx, 0) }

func (p *Process) end(ctx context.Context, patience time.Duration) error {
	if p.stop() {
		if patience > 0 {
			child.Terminate(p.cmd)
			p.linger(ctx, patience)
		}
		child.Kill(p.cmd)
		<-p.alive.Done()
	}
	<-p.reading.Done()
	p.close()
	return p.leftovers()
}

// stop says that the program is ended from here, unless it has ended already.
func (p *Process) stop() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive.Err() != nil {
		return false
	}
	p.stopped = true
	return true
}

// linger waits until the program has ended, for at most d.
func (p *Process) linger(ctx context.Context, d time.Duration) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.alive, cancel)()
	_ = p.site.Clock.Sleep(waiting, d)
}

// failure is how the program failed; nil if it did not.
func (p *Process) failure() error {
	p.mu.Lock()
	broken, stopped := p.broken, p.stopped
	p.mu.Unlock()
	if broken != nil {
		return broken
	}
	if stopped {
		return nil // what it said of it does not matter
	}
	state := p.cmd.ProcessState
	switch code := state.ExitCode(); {
	case code < 0:
		return app.Errorf(app.Crashed, "the program %q was ended by a %s%s", p.name, state, p.lastWords())
	case code > 0:
		err := app.Errorf(app.Failed, "the program %q ended with %s%s", p.name, state, p.lastWords())
		err.Code = code
		return err
	}
	return p.leftovers()
}

// leftovers says what the program left behind when it ended by itself.
func (p *Process) leftovers() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped || len(p.left) == 0 {
		return nil
	}
	return app.Errorf(app.Unusable, "the program %q ended and left processes behind, which were killed: %s; let it wait for what it starts", p.name, strings.Join(p.left, ", "))
}

// maxLastWords is how much of the end of standard error an error quotes, in bytes.
const maxLastWords = 3 << 10

// lastWords is the end of what it wrote to standard error, with its line breaks.
func (p *Process) lastWords() string {
	text := sanitize.Text(p.errors.Lines(), 0)
	if text == "" {
		return "; it wrote nothing to standard error"
	}
	return "; the end of its standard error:\n" + text
}

// Run runs a program to its end and returns what it printed. The error is an
// *app.Error, or the context's cause.
func Run(ctx context.Context, site app.Site, program Program, stdin string) ([]byte, error) {
	var out bytes.Buffer
	limit := program.MaxOutput
	if limit == 0 {
		limit = maxOutput
	}
	program.Stdout = &bounded{to: &out, limit: limit, what: "standard output"}
	program.Input = stdin != ""
	p, err := Start(site, program)
	if err != nil {
		return nil, err
	}
	if program.Input {
		go func() {
			_, _ = io.WriteString(p.Stdin, stdin) // a program need not read it
			_ = p.Stdin.Close()
		}()
	}
	if err := p.Wait(ctx); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// bounded passes on what is written until it is too much.
type bounded struct {
	to    io.Writer
	limit int
	what  string
	n     int
}

// Write implements io.Writer.
func (b *bounded) Write(data []byte) (int, error) {
	if b.n += len(data); b.n > b.limit {
		return 0, app.Errorf(app.Flooded, "the program wrote more than %s to %s, and was ended", size(b.limit), b.what)
	}
	return b.to.Write(data)
}

func size(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
