package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
)

// program is an application that is started as a process. It finds its port in PORT.
type program struct {
	launch   command.Launch
	dialogue Dialogue
}

// Start implements app.Agent.
func (p *program) Start(ctx context.Context, site app.Site) (app.Session, error) {
	return Open(ctx, p.dialogue, &process{launch: p.launch, site: site}, site)
}

// process is the Place of an application that is a process of this machine.
type process struct {
	launch command.Launch
	site   app.Site

	mu     sync.Mutex
	closed bool
	killed bool             // by Kill
	live   *command.Process // nil before the first start
	port   int              // reserved
}

// attempts limits how many ports are tried if other programs take them.
const attempts = 5

// Start implements Place. A free port may be taken by another program before this one
// listens; then another port is tried.
func (p *process) Start(ctx context.Context, ready Ready) (string, error) {
	for n := 1; ; n++ {
		port, err := p.reserve()
		if err != nil {
			return "", err
		}
		if err := p.startOn(ctx, port); err != nil {
			p.release(port)
			return "", err
		}
		base := "http://127.0.0.1:" + strconv.Itoa(port)
		if err = ready(ctx, base, p.Gone()); err == nil {
			return base, nil
		}
		if !errors.Is(err, ErrGone) || n == attempts || !p.taken(port) {
			return "", err
		}
	}
}

// Within implements confined.
func (p *process) Within() func(do func() error) error { return p.site.Within }

// reserve chooses a free port, in the trial's network if it has one.
func (p *process) reserve() (port int, err error) {
	if p.site.Within == nil {
		return ports.reserve()
	}
	err = p.site.Within(func() error {
		port, err = free()
		return err
	})
	return port, err
}

func (p *process) release(port int) {
	if p.site.Within == nil {
		ports.release(port)
	}
}

// taken reports whether a program listens on a port.
func (p *process) taken(port int) (is bool) {
	if p.site.Within == nil {
		return taken(port)
	}
	err := p.site.Within(func() error {
		is = taken(port)
		return nil
	})
	return err == nil && is
}

// startOn starts the program with a port, unless the place was closed.
func (p *process) startOn(ctx context.Context, port int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || ctx.Err() != nil {
		return app.Errorf(app.Unusable, "the application was ended before it was started: %w", context.Cause(ctx))
	}
	env := append(p.launch.Environ(), "PORT="+strconv.Itoa(port))
	live, err := command.Start(p.site, command.Program{Argv: p.launch.Run, Env: env})
	if err != nil {
		return err
	}
	p.release(p.port)
	p.live, p.port, p.killed = live, port, false
	return nil
}

// Gone implements Place.
func (p *process) Gone() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live.Exited()
}

// Lag implements Place.
func (p *process) Lag() time.Duration { return 300 * time.Millisecond }

// BeginTurn implements turnTaker.
func (p *process) BeginTurn() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.live.BeginTurn()
}

// Ended implements Place.
func (p *process) Ended() (how string, silent bool) {
	p.mu.Lock()
	live, killed := p.live, p.killed
	p.mu.Unlock()
	if killed {
		return "it was killed from here", false
	}
	how = fmt.Sprintf("the program %q ended with exit status 0, and a server does not end by itself", p.launch.Run[0])
	if err := live.Wait(context.Background()); err != nil {
		how = err.Error()
	}
	return how, live.Silent()
}

// Kill implements Place.
func (p *process) Kill(ctx context.Context) error {
	p.mu.Lock()
	live := p.live
	p.killed = true
	p.mu.Unlock()
	if live == nil {
		return nil
	}
	return live.Kill()
}

// Close implements Place. The program may end by itself before it is killed.
func (p *process) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.release(p.port)
	p.port = 0
	if p.live == nil {
		return nil
	}
	return p.live.Stop(ctx)
}

// ports are the reserved ports of this machine. Two applications never get the same port:
// one would answer in place of the other, which does not listen yet.
var ports = reserved{free: free, taken: map[int]bool{}}

type reserved struct {
	free  func() (int, error)
	mu    sync.Mutex
	taken map[int]bool
}

// reserve chooses a port that is free.
func (r *reserved) reserve() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		port, err := r.free()
		if err != nil {
			return 0, err
		}
		if !r.taken[port] {
			r.taken[port] = true
			return port, nil
		}
	}
}

func (r *reserved) release(port int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, port)
}

// free returns a port on which no program listens.
func free() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free loopback port for the application: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

// taken reports whether a program listens on a port.
func taken(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return true
	}
	_ = l.Close()
	return false
}
