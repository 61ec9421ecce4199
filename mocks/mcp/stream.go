package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocol is the protocol of a connection that replaces the standard input and output of a server.
const protocol = "rehearse-mcp"

// switched accepts a connection.
const switched = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + protocol + "\r\n\r\n"

// serveStream serves one process of a client, which Bridge connects. The end of the server ends the connection.
func (s *server) serveStream(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != protocol {
		http.Error(w, "this scripted MCP server has transport: stdio; start the command that it has in the agent's environment",
			http.StatusUpgradeRequired)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "the connection cannot be used as a stream", http.StatusInternalServerError)
		return
	}
	defer conn.Close() //nolint:errcheck // the conversation is over
	ctx, cancel := context.WithCancel(s.engine.gone)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, switched); err != nil {
		return
	}
	l := &link{ctx: ctx, cut: func() { _ = conn.Close() }}
	server := s.newSDK(func(http.Header) *link { return l })
	s.track(server, true)
	defer s.track(server, false)
	client := session{missing: uninitialized}
	messages := &observer{check: func(line []byte) { s.reportMistake(client.check(line)) }}
	connected, err := server.Connect(ctx, &sdk.IOTransport{
		Reader: unread{io.TeeReader(buffered.Reader, messages), conn}, Writer: &streamWriter{conn, []byte(s.engine.marker)},
		MaxLineLength: maxBody,
	}, nil)
	if err == nil {
		_ = connected.Wait() // until either side ends it
	}
}

// track adds or removes the server of a stream.
func (s *server) track(server *sdk.Server, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[server] = true
	} else {
		delete(s.open, server)
	}
}

// streams returns the servers of open streams. The caller holds s.mu.
func (s *server) streams() []*sdk.Server { return slices.Collect(maps.Keys(s.open)) }

// unread is what has not been read, and how to close its source.
type unread struct {
	io.Reader
	io.Closer
}

// streamWriter writes messages, each with one call of Write.
type streamWriter struct {
	net.Conn
	marker []byte
}

// Write implements io.Writer.
func (w *streamWriter) Write(p []byte) (int, error) { return writeGuarded(w.Conn, p, w.marker, "\n") }

// Bridge connects the standard input and output of this process to a scripted server, until one of them ends. An
// error reports that the server ended first, or cannot be reached.
func Bridge(ctx context.Context, url string, in io.Reader, out io.Writer) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil || r.URL.Scheme != "http" || r.URL.Host == "" {
		return fmt.Errorf("connect to a scripted MCP server: %q is not its URL; it is in the agent's environment", url)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", protocol)
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.URL.Host)
	if err != nil {
		return fmt.Errorf("connect to a scripted MCP server: %w", err)
	}
	defer conn.Close() //nolint:errcheck // the conversation is over
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	answers := bufio.NewReader(conn)
	if err := upgrade(r, conn, answers); err != nil {
		return fmt.Errorf("connect to the scripted MCP server at %s: %w", url, err)
	}
	finished := make(chan struct{})
	go func() { // it outlives Bridge if in never ends
		_, _ = io.Copy(conn, in)
		close(finished)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(out, answers)
	select {
	case <-finished:
		return nil
	default:
	}
	if err == nil {
		err = errCut
	}
	return err
}

// upgrade sends the request for a stream.
func upgrade(r *http.Request, conn io.Writer, answers *bufio.Reader) error {
	if err := r.Write(conn); err != nil {
		return err
	}
	resp, err := http.ReadResponse(answers, r)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)) //nolint:mnd // of a short message
	return fmt.Errorf("status %d: %.1000q", resp.StatusCode, text)
}
