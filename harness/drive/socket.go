package drive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// detachLimit limits how long a trial waits for a client that neither reads nor
// disconnects.
const detachLimit = 5 * time.Second

// idleConnections limits the idle connections that are kept for the next trial; with the
// default of net/http, 2, parallel trials would open and close connections all the time.
const idleConnections = 64

// socket is one loopback server for all trials of a run, started by the first trial that
// needs it. The zero value is ready to use.
type socket struct {
	mu      sync.Mutex
	mock    mocks.Server
	servers map[string]*mcp.Engine // of the trials with MCP servers, by name
	server  *http.Server
	client  http.Transport // of the driven clients, so that close ends their connections
	address string
	ended   chan error
}

// attach makes an engine reachable and returns its base URL, below which the MCP servers are, if any. release
// waits until the engine has seen the end of every exchange.
func (s *socket) attach(e *mocks.Engine, servers *mcp.Engine) (url string, release func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		return "", nil, err
	}
	name := trialName()
	if err := s.mock.Attach(name, e); err != nil {
		return "", nil, err
	}
	if servers != nil {
		if s.servers == nil {
			s.servers = map[string]*mcp.Engine{}
		}
		s.servers[name] = servers
	}
	release = func() error {
		s.mu.Lock()
		delete(s.servers, name)
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), detachLimit)
		defer cancel()
		return s.mock.Detach(ctx, name)
	}
	return fmt.Sprintf("http://%s/t/%s/v1", s.address, name), release, nil
}

// ServeHTTP implements http.Handler.
func (s *socket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	trial, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/t/"), "/")
	s.mu.Lock()
	servers := s.servers[trial]
	s.mu.Unlock()
	if servers != nil && strings.HasPrefix("/"+rest, serversPath) {
		servers.ServeHTTP(w, r)
		return
	}
	s.mock.ServeHTTP(w, r)
}

// trialName returns an unguessable name: the trials of a run share a port, and anyone who
// knows the name of a trial can use up its script. It has 128 random bits in 39 decimal
// digits: tokenizers split digits into groups of three, so a text with the name has the same
// number of tokens in every run.
func trialName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return fmt.Sprintf("%039d", new(big.Int).SetBytes(b[:]))
}

// serve serves another listener with the server that attach started, until the listener is
// closed.
func (s *socket) serve(on net.Listener) {
	s.mu.Lock()
	server := s.server
	s.mu.Unlock()
	go func() { _ = server.Serve(on) }() // it ends with the listener
}

func (s *socket) start() error {
	if s.server != nil {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen on a loopback port for the scripted backend: %w", err)
	}
	s.address = listener.Addr().String()
	s.client.MaxIdleConnsPerHost = idleConnections
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: detachLimit, Protocols: loopback.Protocols()}
	s.ended = make(chan error, 1)
	go func() { s.ended <- s.server.Serve(listener) }()
	return nil
}

func (s *socket) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return nil
	}
	s.client.CloseIdleConnections()
	err := s.server.Close()
	if serving := <-s.ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	s.server = nil
	return err
}
