package drive

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/mocks"
)

// detachLimit is how long a trial waits for a client that neither reads nor
// leaves.
const detachLimit = 5 * time.Second

// idleConnections is how many connections wait for the next trial; with the two
// that net/http keeps, parallel trials would open and close them all the time.
const idleConnections = 64

// socket is one loopback server for all trials of a run, started when the first
// one needs it. The zero value is ready to use.
type socket struct {
	mu      sync.Mutex
	mock    mocks.Server
	server  *http.Server
	client  http.Transport // what the driven clients use, so that close ends their connections
	address string
	ended   chan error
}

// attach makes an engine reachable and returns its base URL. Release waits until
// the engine has seen the end of every exchange.
func (s *socket) attach(e *mocks.Engine) (url string, release func() error, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		return "", nil, err
	}
	name := trialName()
	if err := s.mock.Attach(name, e); err != nil {
		return "", nil, err
	}
	release = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), detachLimit)
		defer cancel()
		return s.mock.Detach(ctx, name)
	}
	return fmt.Sprintf("http://%s/t/%s/v1", s.address, name), release, nil
}

// trialName returns a name that nobody can guess: the trials of a run share a port, and
// whoever knows the name of one can use up its script. It is 128 random bits in 39 decimal
// digits: tokenizers split digits in groups of three, so that a text with the name has as
// many tokens in every run.
func trialName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return fmt.Sprintf("%039d", new(big.Int).SetBytes(b[:]))
}

// serve lets the server that attach started be reached by a further listener, until that
// is closed.
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
	s.server = &http.Server{Handler: &s.mock, ReadHeaderTimeout: detachLimit}
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
