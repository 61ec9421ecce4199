package capture_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

// rig is a capture between a client and an upstream, all over loopback.
type rig struct {
	url    string // of the proxy, without /v1
	direct string // of the upstream
	client *http.Client
	mu     sync.Mutex
	stored []tape.Exchange
}

// capturing begins a capture of an upstream.
func capturing(upstream http.Handler, o capture.Options) *rig {
	GinkgoHelper()
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
	r := &rig{client: &http.Client{Transport: &http.Transport{DisableCompression: true}}}
	real := httptest.NewServer(upstream)
	DeferCleanup(real.Close)
	r.direct = real.URL
	o.Upstream = real.URL + "/v1"
	transport := &http.Transport{DisableCompression: true}
	DeferCleanup(transport.CloseIdleConnections)
	o.Transport = transport
	if o.Keep == nil {
		o.Keep = r.keep
	}
	proxy, err := capture.New(o)
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(proxy)
	DeferCleanup(server.Close)
	DeferCleanup(r.client.CloseIdleConnections)
	r.url = server.URL
	return r
}

func (r *rig) keep(x tape.Exchange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stored = append(r.stored, x)
	return nil
}

// exchanges waits for n exchanges.
func (r *rig) exchanges(n int) []tape.Exchange {
	GinkgoHelper()
	var stored []tape.Exchange
	Eventually(func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		stored = append([]tape.Exchange(nil), r.stored...)
		return len(stored)
	}).Should(Equal(n))
	return stored
}

// tape has them with a header.
func (r *rig) tape(n int) tape.Tape {
	GinkgoHelper()
	file, err := tape.AppendHeader(nil, tape.Header{Date: clock.Epoch, Version: "1.2", Upstream: "api.example.com"})
	Expect(err).NotTo(HaveOccurred())
	for _, x := range r.exchanges(n) {
		file, err = tape.AppendExchange(file, x)
		Expect(err).NotTo(HaveOccurred())
	}
	t, err := tape.Read(strings.NewReader(string(file)))
	Expect(err).NotTo(HaveOccurred())
	return t
}

// begin sends a request; the answer's body is still to be read.
func (r *rig) begin(ctx context.Context, root, path, body string) *http.Response {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, root+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer the-key-of-the-client")
	request.Header.Set("X-Api-Key", "another-key-of-the-client")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	response, err := r.client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	return response
}

// ask sends a request and reads the answer as far as it comes.
func (r *rig) ask(ctx context.Context, root, path, body string) (int, string) {
	GinkgoHelper()
	response := r.begin(ctx, root, path, body)
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body) // a cut is for the spec to see
	return response.StatusCode, string(data)
}

// scripted serves a script in virtual time, as often as it is asked.
func scripted(script mocks.Script) (http.Handler, *mocks.Engine) {
	GinkgoHelper()
	program, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	engine := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual()})
	server := &mocks.Server{}
	Expect(server.Attach("", engine)).To(Succeed())
	DeferCleanup(func(ctx context.Context) { Expect(server.Detach(ctx, "")).To(Succeed()) })
	return server, engine
}

func parse(text string) mocks.Script {
	GinkgoHelper()
	var s mocks.Script
	Expect(yaml.Load([]byte(text), &s, yaml.WithKnownFields())).To(Succeed())
	return s
}

// requests are those of a conversation of two turns, for each protocol. Only the path of a request to
// Gemini asks for a stream.
var requests = map[string]struct {
	path          string
	first, second string
}{
	"openai-chat": {
		"/v1/chat/completions",
		`{"model":"m","stream":STREAM,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}`,
		`{"model":"m","stream":STREAM,"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"seen"}]}`,
	},
	"openai-responses": {
		"/v1/responses",
		`{"model":"m","stream":STREAM,"input":"go","tools":[{"type":"function","name":"look","parameters":{"type":"object"}}]}`,
		`{"model":"m","stream":STREAM,"input":[{"role":"user","content":"go"},{"type":"function_call","call_id":"call_1","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"seen"}]}`,
	},
	"ollama": {
		"/api/chat",
		`{"model":"m","stream":STREAM,"messages":[{"role":"user","content":"go"}],"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]}`,
		`{"model":"m","stream":STREAM,"messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"call_1","function":{"name":"look","arguments":{}}}]},{"role":"tool","tool_call_id":"call_1","content":"seen"}]}`,
	},
	"anthropic-messages": {
		"/v1/messages?beta=true",
		`{"model":"m","max_tokens":99,"stream":STREAM,"messages":[{"role":"user","content":"go"}],"tools":[{"name":"look","input_schema":{"type":"object"}}]}`,
		`{"model":"m","max_tokens":99,"stream":STREAM,"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"seen"}]}]}`,
	},
	"gemini": {
		"/v1beta/models/m:generateContent?key=" + ghKey,
		`{"contents":[{"role":"user","parts":[{"text":"go"}]}],"tools":[{"functionDeclarations":[{"name":"look"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"look","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"id":"call_1","name":"look","response":{"output":"seen"}}}]}]}`,
	},
}

// conversation is the script that answers them.
const conversation = `
model: m-2026
rules:
  - when: {turn: 0}
    tool_calls: [{id: call_1, name: look, arguments: {at: [1, 2.5, "x"], deep: {a: null}}}]
    usage: {input: 7, cached_input: 2, output: 5}
  - when: {turn: 1}
    text: "Seen with ` + apiKey + `, ünïcode 😀."
    usage: {input: 9, output: 8}
`

// answersOf are the answers that the two requests get at a root.
func (r *rig) answersOf(ctx context.Context, root, protocol, stream string) []string {
	GinkgoHelper()
	q := requests[protocol]
	if stream == "true" {
		q.path = strings.Replace(q.path, ":generateContent?", ":streamGenerateContent?alt=sse&", 1)
	}
	var bodies []string
	for _, request := range []string{q.first, q.second} {
		status, body := r.ask(ctx, root, q.path, strings.ReplaceAll(request, "STREAM", stream))
		Expect(status).To(Equal(http.StatusOK), body)
		bodies = append(bodies, body)
	}
	return bodies
}

// folderOf is a folder with a tape in it.
func folderOf(file []byte) fstest.MapFS {
	return fstest.MapFS{"x.capture.jsonl": {Data: file}}
}
