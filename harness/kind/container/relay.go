package container

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
)

// relay forwards connections to an address of this machine, including how they end: in order
// or by a reset.
type relay struct {
	listener net.Listener
	target   string
	from     func(netip.Addr) bool // reports whether an address may connect

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]bool
	busy   sync.WaitGroup
}

// listen starts a relay on a host, which is an address of this machine.
func listen(host, target string, from func(netip.Addr) bool) (*relay, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	r := &relay{listener: l, target: target, from: from, conns: map[net.Conn]bool{}}
	r.busy.Go(r.serve)
	return r, nil
}

func (r *relay) port() string { return strconv.Itoa(r.listener.Addr().(*net.TCPAddr).Port) }

func (r *relay) serve() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		peer, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
		if !r.from(peer.Addr().Unmap()) || !r.track(conn) {
			_ = conn.Close()
			continue
		}
		r.busy.Go(func() { r.forward(conn) })
	}
}

// track stores a connection, so that close can end it.
func (r *relay) track(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.conns[conn] = true
	}
	return !r.closed
}

func (r *relay) drop(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
	_ = conn.Close()
}

// forward forwards one connection until both sides have ended it.
func (r *relay) forward(near net.Conn) {
	defer r.drop(near)
	far, err := net.Dial("tcp", r.target)
	if err != nil || !r.track(far) {
		return
	}
	defer r.drop(far)
	var both sync.WaitGroup
	both.Go(func() { stream(far, near) })
	both.Go(func() { stream(near, far) })
	both.Wait()
}

// stream copies one direction to its end, and ends it the same way.
func stream(to, from net.Conn) {
	_, err := io.Copy(to, from)
	out, in := to.(*net.TCPConn), from.(*net.TCPConn)
	if errors.Is(err, syscall.ECONNRESET) {
		// Reset both connections: either side may have been reset.
		_ = out.SetLinger(0)
		_ = in.SetLinger(0)
		_ = out.Close()
		_ = in.Close()
		return
	}
	_ = out.CloseWrite()
}

// Close ends the relay and all connections.
func (r *relay) Close() error {
	err := r.listener.Close()
	r.mu.Lock()
	r.closed = true
	for conn := range r.conns {
		_ = conn.Close()
	}
	r.mu.Unlock()
	r.busy.Wait()
	return err
}
