package mocks

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// T is the part of a test that Start uses. *testing.T, *testing.B and GinkgoT() implement it.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Backend is the scripted backend of one test.
type Backend struct {
	// URL is the base URL, such as "http://127.0.0.1:40123". Clients of Anthropic's API
	// take it as it is; append "/v1" for clients of OpenAI's.
	URL    string
	engine *Engine
}

// Report returns what has happened so far.
func (b *Backend) Report() Report { return b.engine.Report() }

// closeWithin is how long a test waits at its end for exchanges that are under way.
const closeWithin = 5 * time.Second

// Start serves a script on the loopback interface, in real time, until the test ends. The
// test then fails if a call was not in the script or not valid, if a line was not used, or
// if a fault never took effect. It ends at once if the script is not valid.
//
// For virtual time, for other options and without a socket see NewEngine and NewTransport.
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
	listening := &http.Server{Handler: server, ReadHeaderTimeout: closeWithin}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = listening.Serve(listener) // it ends when it is closed
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
			t.Errorf("the calls to the scripted backend do not fit its script:%s", problems)
		}
	})
	return b
}

// problems lists what a test fails for, a line each; empty if there is nothing.
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

// mergeCalls joins findings such as "call 2: text" and "call 3: text" that differ only in
// the call: an agent that repeats a refused call has made one mistake.
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
