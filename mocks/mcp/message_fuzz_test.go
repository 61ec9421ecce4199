package mcp_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// FuzzMessage sends any bytes as the messages of a client, before and after a handshake. The server must answer each with a
// status and come to an end.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":"a"}}}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x"}}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"method":"resources/read","params":{"uri":"x://y"}}`, `{"jsonrpc":"1.0","id":1,"method":7}`, "", "\xff", "[[[[",
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p","arguments":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	var servers []mcp.Server
	script := "[{name: a, tools: [{name: t, rules: [{text: x}]}], resources: [{uri: 'x://y', text: z}], prompts: [{name: p, text: q}]}]"
	if err := yaml.Load([]byte(script), &servers); err != nil {
		f.Fatal(err)
	}
	program, err := mcp.Compile(servers)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		e := mcp.NewEngine(program, mcp.Options{Clock: clock.NewVirtual()})
		defer e.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		session := ""
		send := func(body []byte) {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/a", bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			if session != "" {
				r.Header.Set("Mcp-Session-Id", session)
			}
			response, err := mcp.NewTransport(e).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode < 200 || response.StatusCode > 599 {
				t.Fatalf("status %d, %v", response.StatusCode, err)
			}
			session = response.Header.Get("Mcp-Session-Id")
		}
		send(message)
		session = ""
		send([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"fuzz","version":"1"}}}`))
		send(message)
		e.Report()
		if ctx.Err() != nil {
			t.Fatal("a message was not answered")
		}
	})
}
