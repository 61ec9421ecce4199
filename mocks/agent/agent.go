// Package agent is a scripted command-line agent: a real child process that
// behaves like Claude Code, Codex, Gemini CLI, Copilot CLI or a plain program. Each
// invocation gets the next answer of a script.
//
// The child is the program's own executable, started again: Main, called first
// thing in main or TestMain, turns it into the agent if the environment asks for it.
// It sends what it was asked (arguments and standard input) to the parent over a
// private socket; there the script's engine decides, by the same rules as for an
// API, and the child plays the answer line by line, each of them acknowledged. So
// the parent knows which lines were delivered, and that a fault took effect.
//
// A child that loses its parent ends, and no child lives longer than two minutes.
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
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Config configures Serve. The zero value is usable.
type Config struct {
	// Executable is the program that calls Main; default: the running one.
	Executable string
	// Clock passes the script's latencies; default: the machine's. The driven
	// system lives in real time, so any other is for tests.
	Clock clock.Clock
	// Price returns the cost of an answer in USD, for the styles that report it. By
	// default they report nothing.
	Price func(model string, usage llm.Usage) (usd float64, ok bool)
}

// Server lets child processes take their answers from an engine.
type Server struct {
	engine   *mocks.Engine
	cfg      Config
	listener net.Listener
	dir      string // of the socket; empty without
	token    string

	ctx     context.Context // ends with the server
	stop    context.CancelFunc
	playing sync.WaitGroup

	mu     sync.Mutex
	living int
}

// Serve listens for the agents of one trial until Close is called. The socket is
// one of the file system in a folder that only this user can enter, or one of
// the loopback interface where there are no such sockets; either way a client needs a
// token that only the children of this server have.
func Serve(engine *mocks.Engine, cfg Config) (*Server, error) {
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
	s.dir, err = os.MkdirTemp("", "rehearse-")
	if err != nil {
		return err
	}
	s.listener, err = net.Listen("unix", filepath.Join(s.dir, "agent"))
	if err != nil { // no such sockets here, or the path is too long for one
		if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			err = errors.Join(err, os.RemoveAll(s.dir))
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

// Living returns the number of agents, and of processes they left behind, that have
// not ended. The kernel closes their connections when they end.
func (s *Server) Living() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.living
}

// drainTime is how long Close waits for the last messages of agents that have ended.
// Only agents that are still alive, and are then stopped, take that long.
const drainTime = 2 * time.Second

// Close reads the last messages of the agents that have ended, stops the others, and
// completes the engine's records. It may be called again.
func (s *Server) Close() error {
	err := s.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	// The message that an agent took its last frame may still be on its way when the
	// process has been waited for.
	late, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	defer context.AfterFunc(late, s.stop)()
	s.playing.Wait()
	s.stop()
	return errors.Join(err, os.RemoveAll(s.dir))
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
