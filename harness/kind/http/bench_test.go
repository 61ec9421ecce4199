package http_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	httpkind "github.com/rehearse-dev/rehearse/harness/kind/http"
)

// BenchmarkTurn measures a turn of a trivial application: a plain exchange over a reused and over a
// new connection, and the exchange of a conversation.
func BenchmarkTurn(b *testing.B) {
	const body = `{"say": "hello"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Say string }
		_ = json.NewDecoder(r.Body).Decode(&request)
		fmt.Fprintf(w, `{"reply": "You said %s."}`, request.Say)
	}))
	defer server.Close()
	bare := func(transport *http.Transport) func(*testing.B) {
		return func(b *testing.B) {
			client := &http.Client{Transport: transport}
			defer client.CloseIdleConnections()
			for b.Loop() {
				r, err := client.Post(server.URL+"/chat", "application/json", strings.NewReader(body)) //nolint:noctx // the floor
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(r.Body); err != nil {
					b.Fatal(err)
				}
				_ = r.Body.Close()
			}
		}
	}
	b.Run("bare/kept", bare(&http.Transport{}))
	b.Run("bare/own", bare(&http.Transport{DisableKeepAlives: true}))
	b.Run("driven", func(b *testing.B) {
		agent, err := httpkind.New(httpkind.Options{URL: server.URL, Web: httpkind.Web{
			Request: httpkind.Request{Path: "/chat", Body: `{"say": {{json .Turn}}}`}, Answer: "$.reply",
		}})
		if err != nil {
			b.Fatal(err)
		}
		s, err := agent.Start(b.Context(), app.Site{Clock: clock.Real()})
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			answer, err := s.Say(b.Context(), "hello")
			if err != nil || answer.Text != "You said hello." {
				b.Fatal(answer.Text, err)
			}
		}
		_ = s.End(b.Context())
	})
}
