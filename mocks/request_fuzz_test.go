package mocks_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

// FuzzRequest: no request makes the engine panic or hang, and each gets a response with a status. Its seeds are the endpoints
// that no codec decodes: counts, embeddings, moderations, models and files.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][3]string{
		{"POST", "/v1/moderations", `{"input":["a",{"type":"text"}]}`},
		{"POST", "/v1/embeddings", `{"model":"m","input":[1]}`},
		{"POST", "/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"a"}]}`},
		{"POST", "/v1/responses/input_tokens", `{"model":"m","input":"a"}`},
		{"POST", "/api/show", `{"model":"m"}`},
		{"POST", "/api/embed", `{"model":"m","input":["a"]}`},
		{"POST", "/api/embeddings", `{"prompt":1}`},
		{"POST", "/v1beta/models/m:countTokens", `{"contents":{"parts":{"text":"x"}}}`},
		{"GET", "/v1/models/%00", ""},
		{"POST", "/v1beta/models/m:batchEmbedContents", `{"requests":[{"content":{"parts":[{"text":"x"}]}}]}`},
		{"POST", "/v1/files", "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--x--"},
		{"DELETE", "/v1/files/file-rehearse1", ""},
		{"GET", "/v1/batches?limit=-1", ""},
		{"POST", "/model/a%2Fb/converse", "{}"},
		{"PATCH", "/t/7/v1/messages/batches/x/results", "{"},
	} {
		f.Add(seed[0], seed[1], []byte(seed[2]))
	}
	var s mocks.Script
	if err := yaml.Load([]byte("rules: [{text: hi}, {media: {generated: true}}]"), &s); err != nil {
		f.Fatal(err)
	}
	program, err := mocks.Compile(s)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, method, path string, body []byte) {
		if len(body) > 4<<10 { // thousands of embeddings are valid, and slow
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, "http://mock"+path, strings.NewReader(string(body)))
		if err != nil {
			return
		}
		e := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual()})
		response, err := mocks.NewTransport(e).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode < 200 || response.StatusCode > 599 {
			t.Fatalf("status %d, %v", response.StatusCode, err)
		}
		_ = response.Body.Close()
	})
}
