package command

import (
	"bytes"
	"cmp"
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
	"github.com/rehearse-dev/rehearse/internal/failword"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxErrors limits the bytes that a program may write to standard error.
	maxErrors = 64 << 20
	// grace limits how long a program may take to end after SIGTERM, and how long a
	// descendant may keep its output open.
	grace = time.Second
)

// Program is a program that is started in a site.
type Program struct {
	// Argv is the program, which is searched for in PATH unless it has a slash, and its
	// arguments. It runs in the site's folder.
	Argv []string
	// Env has NAME=value pairs on top of those of Environ.
	Env []string
	// Stdout receives the output of the program, from one goroutine. Its first error ends the
	// program, and is returned by Wait if it is an *app.Error. Nil means the site's log.
	Stdout io.Writer
}

// Process is a started program.
type Process struct {
	*child.Process
	name   string
	errors child.Tail
	notes  notes
	output child.Tail // the end of an output that is not read as answers
	left   []string   // names of the processes that the sweep killed
}

// lookup returns the path of a program.
func lookup(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path) // it is started in another folder
	}
	if err != nil {
		if reason := errors.Unwrap(err); reason != nil {
			err = reason
		}
		hint := "install it, or correct its name"
		if errors.Is(err, fs.ErrPermission) {
			hint = "make it executable, or name the program that runs it"
		}
		return "", app.Errorf(app.Unusable, "the program %q cannot be started: %w; %s", name, err, hint)
	}
	return path, nil
}

// Start starts a program. The caller must call Stop, and may call Wait before. The error
// is an *app.Error.
func Start(site app.Site, program Program) (*Process, error) {
	return start(site, program, child.Program{Stdout: program.Stdout})
}

// start starts a program with the standard input and output of std.
func start(site app.Site, program Program, std child.Program) (*Process, error) {
	path, err := lookup(program.Argv[0])
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(Temp(site), 0o700); err != nil {
		return nil, app.Errorf(app.Unusable, "make a folder for temporary files: %w", err)
	}
	adopt()
	p := &Process{
		name: filepath.Base(program.Argv[0]), errors: child.Tail{Size: maxLastWords}, output: child.Tail{Size: maxLastWords},
	}
	if std.Stdout == nil && !std.Interactive {
		std.Stdout = io.MultiWriter(&p.output, logOf(site))
	}
	std.Argv, std.Path = program.Argv, path
	std.Dir, std.Env = site.Folder, Environ(site, program.Env)
	std.Stderr = &bounded{to: io.MultiWriter(&p.errors, &p.notes, logOf(site)), limit: maxErrors, what: "standard error"}
	std.Grace = grace
	std.Start = func(cmd *exec.Cmd) error { return launch(site, cmd) }
	std.Sweep = func(group int, end child.Ending) {
		patience := orphanTimeout
		if end.Cause != nil {
			patience = 0
		}
		p.left = sweepSite(site, group, patience)
	}
	p.Process, err = child.Start(context.Background(), std)
	if err != nil {
		hint := ""
		if errors.Is(err, syscall.E2BIG) {
			hint = "; an argument is too long for this system: hand the turn over by standard input or a file"
		}
		return nil, app.Errorf(app.Unusable, "the program %q cannot be started: %w%s", p.name, err, hint)
	}
	return p, nil
}

// launch starts a program with fewer rights, in the network of its site, within limits.
func launch(site app.Site, cmd *exec.Cmd) error {
	err := child.Confine()
	switch {
	case err != nil:
	case site.Within != nil:
		err = site.Within(cmd.Start)
	default:
		err = cmd.Start()
	}
	if err == nil {
		limit(cmd.Process.Pid)
	}
	return err
}

// logOf returns the writer for output that is not an answer.
func logOf(site app.Site) io.Writer { return cmp.Or(site.Log, io.Discard) }

// Wait waits until the program has ended and its output is read, or ctx ends; the program
// is stopped then, and the error is the context's cause. Otherwise the error describes how
// the program failed: an *app.Error, nil for exit status 0.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.Exited():
		return p.failure()
	case <-ctx.Done():
		_ = p.Stop(context.WithoutCancel(ctx))
		return context.Cause(ctx)
	}
}

// Stop ends the program, and everything that it started, and waits for it. It may be
// called again. When ctx ends, the program is killed. If the program had ended by itself,
// the error lists the processes that it left behind.
func (p *Process) Stop(ctx context.Context) error { return p.leftovers(p.Process.Stop(ctx)) }

// Kill is Stop without time for the program to end in order.
func (p *Process) Kill() error { return p.leftovers(p.Process.Kill()) }

// failure returns how the program failed once it has ended; nil if it did not fail, or was
// stopped.
func (p *Process) failure() error {
	end := p.Process.Wait()
	if errors.Is(end.Cause, child.ErrStopped) {
		return nil // the caller stopped it: its exit status does not matter
	}
	flooded, ok := errors.AsType[*app.Error](end.Cause)
	switch {
	case ok:
		return flooded
	case end.Cause != nil:
		return app.Errorf(app.Unusable, "the output of the program %q cannot be written: %w", p.name, end.Cause)
	case end.Code < 0:
		err := app.Errorf(app.Crashed, "the program %q was ended by a %s%s", p.name, end.State, p.lastWords())
		err.Silent = p.Silent()
		return err
	case end.Code > 0:
		err := app.Errorf(app.Failed, "the program %q ended with %s%s", p.name, end.State, p.lastWords())
		err.Code, err.Silent = end.Code, p.Silent()
		return err
	}
	return p.leftovers(end)
}

// leftovers returns an error about processes that the program left when it ended by itself.
func (p *Process) leftovers(end child.Ending) error {
	byItself := end.Cause == nil
	if !byItself || len(p.left) == 0 {
		return nil
	}
	return app.Errorf(app.Unusable,
		"the program %q ended and left processes behind, which were killed: %s; let it wait for what it starts",
		p.name, strings.Join(p.left, ", "))
}

// maxLastWords limits how much of the end of standard error an error quotes, in bytes.
const maxLastWords = 8 << 10

// lastWords returns the end of standard error, with its line breaks.
func (p *Process) lastWords() string {
	text := sanitize.Text(p.errors.Lines(), 0)
	if text == "" {
		return "; it wrote nothing to standard error"
	}
	return "; the end of its standard error:\n" + text
}

// BeginTurn notes that a turn begins: what was written to standard error before is not the reason why it fails.
func (p *Process) BeginTurn() { p.notes.beginTurn() }

// Silent reports whether a program that has ended gave no reason: it wrote nothing to standard error in its last turn, and
// nothing about a failure before that turn or to an output that is not read as answers.
func (p *Process) Silent() bool { return p.notes.silent() && !failword.In(p.output.String()) }

// notes has the end of standard error since a turn began, and what was written since the turn before. It is written while
// turns begin. A program may report a failure after its answer, and end before the next turn.
type notes struct {
	mu           sync.Mutex
	before, turn child.Tail
}

// Write implements io.Writer.
func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.turn.Write(p)
}

func (n *notes) beginTurn() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.before, n.turn = n.turn, child.Tail{}
}

func (n *notes) silent() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.turn.String() == "" && !failword.In(n.before.String())
}

// Run runs a program with a text on its standard input to its end and returns its output, also
// that of a program that failed, at most app.MaxAnswer bytes. The error is an *app.Error, or the
// context's cause.
func Run(ctx context.Context, site app.Site, program Program, stdin string) ([]byte, error) {
	var out bytes.Buffer
	p, err := start(site, program, child.Program{
		Stdin: stdin, Stdout: &bounded{to: &out, limit: app.MaxAnswer, what: "standard output"},
	})
	if err != nil {
		return nil, err
	}
	err = p.Wait(ctx)
	if failed, ok := errors.AsType[*app.Error](err); ok {
		failed.Silent = failed.Silent && !failword.In(out.String())
	}
	return out.Bytes(), err
}

// bounded is a writer with a limit.
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
