// Package agent is a scripted command-line agent: a real child process that behaves like Claude
// Code, Codex, Gemini CLI, Copilot CLI or a plain program. Each invocation gets the next answer of a
// script.
//
// The child is a new process of the program's own executable. Main, called first in main or TestMain,
// runs the agent if the environment asks for it. The child sends its arguments and standard input to
// the parent over a private socket. The parent's engine matches them like a request to an API, and
// the child writes the answer line by line. It acknowledges each line, so that the parent knows which
// lines were delivered and which faults fired.
//
// A child exits when it loses its parent, and after two minutes at the latest.
package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/tempdir"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Config configures Serve. The zero value is usable.
type Config struct {
	// Executable is the program that calls Main; default os.Executable.
	Executable string
	// Clock for the latencies of the script; default clock.Real. Other clocks are for tests,
	// because the driven system uses real time.
	Clock clock.Clock
	// Price returns the cost of an answer in USD, for the styles that report it; may be nil.
	Price func(model string, usage llm.Usage) (usd float64, ok bool)
}

// Server serves answers of an engine to child processes.
type Server struct {
	engine   *mocks.Engine
	cfg      Config
	listener net.Listener
	dir      *tempdir.Folder // of the socket
	token    string

	ctx     context.Context // ends with the server
	stop    context.CancelFunc
	playing sync.WaitGroup

	mu     sync.Mutex
	living int
}

// errNoMain is returned in a process that was started as an agent: it would start itself again and again.
var errNoMain = errors.New("this process was started as a scripted agent, but its program does not call mocks/agent.Main first")

// Serve listens for the agents of one trial until Close is called. It uses a Unix socket in a folder
// that only this user can enter, or the loopback interface if there are no Unix sockets. Clients need
// a token that only the children of this server have.
func Serve(engine *mocks.Engine, cfg Config) (*Server, error) {
	if os.Getenv(envAgent) != "" { //nolint:forbidigo // set for the agents of a server alone
		return nil, errNoMain
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	if cfg.Executable == "" {
		path, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the program to start as the scripted agent: %w", err)
		}
		cfg.Executable = path
	}
	s := &Server{engine: engine, cfg: cfg, token: rand.Text()}
	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("listen for scripted agents: %w", err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.playing.Go(s.accept)
	return s, nil
}

func (s *Server) listen() (err error) {
	s.dir, err = tempdir.New("rehearse-agent")
	if err != nil {
		return err
	}
	s.listener, err = net.Listen("unix", filepath.Join(s.dir.Path, "agent"))
	if err != nil { // there are no Unix sockets, or the path is too long
		if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			err = errors.Join(err, s.dir.Remove())
		}
	}
	return err
}

// Command returns the command line that starts an agent of a style (claude, codex, gemini,
// copilot or exec), and the variables to add to its environment. Arguments are appended as
// to the real program.
func (s *Server) Command(style string) (argv, env []string, err error) {
	if _, err := findStyle(style); err != nil {
		return nil, nil, err
	}
	address := s.listener.Addr()
	return []string{s.cfg.Executable}, []string{
		envAgent + "=" + strings.Join([]string{style, address.Network(), address.String(), s.token}, "|"),
		// A race-detector build otherwise sleeps for a second before it exits.
		"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"), //nolint:forbidigo // extends a variable of the Go runtime
	}, nil
}

// Living returns the number of running agents and of their child processes. The kernel closes the
// connections of processes that exit.
func (s *Server) Living() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.living
}

// drainTime limits Close's wait for the last messages of agents. Only running agents, which are then
// stopped, take that long.
const drainTime = 2 * time.Second

// Close reads the last messages of agents that have exited, stops the others, and completes the
// engine's records. It can be called more than once.
func (s *Server) Close() error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	// The acknowledgement of the last frame may arrive after the process was waited for.
	late, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	defer context.AfterFunc(late, s.stop)()
	s.playing.Wait()
	s.stop()
	return errors.Join(err, s.dir.Remove())
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.playing.Go(func() {
			s.count(+1)
			defer s.count(-1)
			s.serve(conn)
		})
	}
}

func (s *Server) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.living += n
}
