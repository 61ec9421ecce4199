package mocks

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// T has the methods of a test that Start needs. *testing.T, *testing.B and GinkgoT() implement it.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Backend is the scripted backend of one test.
type Backend struct {
	// URL is the base URL for clients of Anthropic's API, such as "http://127.0.0.1:40123".
	// Append "/v1" for clients of OpenAI's API.
	URL    string
	engine *Engine
}

// Report returns a summary of the exchanges so far.
func (b *Backend) Report() Report { return b.engine.Report() }

// closeWithin limits the wait for open exchanges at the end of a test.
const closeWithin = 5 * time.Second

// Start serves a script on the loopback interface, in real time, until the test ends. It fails the
// test if the script is invalid, if a call is invalid or not in the script, if a line was not used,
// or if a fault did not fire.
//
// See NewEngine and NewTransport for virtual time, other options, and tests without a socket.
func Start(t T, s Script) *Backend {
	t.Helper()
	program, err := Compile(s)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen for the calls to the scripted backend: %v", err)
		return nil
	}
	b := &Backend{URL: "http://" + listener.Addr().String(), engine: NewEngine(program, EngineOptions{})}
	server := &Server{}
	_ = server.Attach("", b.engine) // the only one
	listening := &http.Server{Handler: server, ReadHeaderTimeout: closeWithin, Protocols: loopback.Protocols()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = listening.Serve(listener) // returns when it is closed
	}()
	t.Cleanup(func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
		defer cancel()
		if err := server.Detach(ctx, ""); err != nil {
			t.Errorf("%v", err)
		}
		_ = listening.Close()
		<-done
		if problems := b.Report().problems(s.Lenient); problems != "" {
			t.Errorf("the calls to the scripted backend do not match its script:%s", problems)
		}
	})
	return b
}

// problems returns the reasons for failing a test, a line each.
func (r Report) problems(lenient bool) string {
	var b strings.Builder
	add := func(what string, findings []string) {
		for _, f := range findings {
			fmt.Fprintf(&b, "\n  %s: %s", what, f)
		}
	}
	if !lenient {
		add("unexpected", mergeCalls(r.Unexpected))
	}
	add("invalid", mergeCalls(r.Invalid))
	if !lenient {
		add("unused", r.Unused)
	}
	add("fault without effect", r.Unfired)
	return b.String()
}

// mergeCalls joins findings that differ only in the call, such as "call 2: text" and "call 3: text":
// an agent that repeats a refused call made one mistake.
func mergeCalls(findings []string) []string {
	calls, texts := map[string][]string{}, []string(nil)
	for _, f := range findings {
		call, text, _ := strings.Cut(f, ": ")
		if calls[text] == nil {
			texts = append(texts, text)
		}
		calls[text] = append(calls[text], call)
	}
	merged := make([]string, len(texts))
	for i, text := range texts {
		merged[i] = strings.Join(calls[text], ", ") + ": " + text
	}
	return merged
}
