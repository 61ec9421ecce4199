package conformance_test

import (
	"cmp"
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// seen is the effect of a fault on an agent: the kind of the error and the text received so far,
// or the reply.
type seen struct {
	kind   llm.ErrorKind
	text   string
	finish llm.FinishReason
	output int
}

const answer = "hello my dear world"

var whole = seen{text: answer, finish: llm.FinishStop, output: 7}

// faults has a row for each kind of fault: its effect without streaming, and with streaming if it
// differs.
var faults = map[string][]seen{
	"status":                 {{kind: llm.Unavailable}},
	"timeout":                {{kind: llm.Timeout}},
	"reset-before-headers":   {{kind: llm.Unavailable}},
	"reset-after-headers":    {{kind: llm.Unavailable}},
	"reset-mid-stream":       {{kind: llm.Truncated}, {kind: llm.Truncated, text: "hello my dear"}},
	"truncated-stream":       {{kind: llm.Truncated}, {kind: llm.Truncated, text: "hello my dear"}},
	"missing-done":           {whole},
	"error-event":            {whole, {kind: llm.Unavailable, text: "hello my dear"}},
	"malformed-json":         {{kind: llm.Malformed}, {kind: llm.Malformed, text: "hello my dear"}},
	"wrong-content-type":     {{kind: llm.Malformed}},
	"empty-choices":          {{kind: llm.Malformed, output: 7}},
	"empty-text":             {{finish: llm.FinishStop}},
	"finish-length":          {{text: "hello my", finish: llm.FinishLength, output: 3}},
	"content-filter":         {{kind: llm.Refused}},
	"refusal":                {{kind: llm.Refused}},
	"slow-drip":              {whole},
	"duplicate-chunk":        {whole, {text: "hello my dear dear world", finish: llm.FinishStop, output: 7}},
	"wrong-usage":            {{text: answer, finish: llm.FinishStop, output: 1070}},
	"invalid-tool-arguments": {whole},
	"not-utf8":               {{kind: llm.Malformed}},
}

var _ = Describe("a backend sees the same fault in process and over a socket", Label("H-02"), func() {
	for _, kind := range wire.FaultKinds() {
		for way, reach := range map[string]connect{"in process": inProcess, "over a socket": overSocket} {
			It(kind+" "+way, func(ctx context.Context) {
				rows := faults[kind]
				Expect(rows).NotTo(BeEmpty(), "a fault without a row")
				Expect(see(ctx, kind, false, reach)).To(Equal(rows[0]))
				Expect(see(ctx, kind, true, reach)).To(Equal(rows[len(rows)-1]), "streamed")
			})
		}
	}
})

// connect connects a backend to an engine whose latencies pass on v.
type connect func(e *mocks.Engine, v *clock.Virtual) openai.Config

func inProcess(e *mocks.Engine, v *clock.Virtual) openai.Config {
	return openai.Config{BaseURL: "http://127.0.0.1/v1", Transport: mocks.NewTransport(e), Clock: v}
}

// overSocket gives the client the machine's clock, because only real time ends the wait for
// a hanging server.
func overSocket(e *mocks.Engine, _ *clock.Virtual) openai.Config {
	GinkgoHelper()
	server := &mocks.Server{}
	Expect(server.Attach("", e)).To(Succeed())
	listening := httptest.NewServer(server)
	DeferCleanup(listening.Close)
	return openai.Config{BaseURL: listening.URL + "/v1", Transport: httpClient().Transport}
}

// see calls a line with the fault once.
func see(ctx context.Context, fault string, stream bool, reach connect) seen {
	GinkgoHelper()
	var script mocks.Script
	text := fmt.Sprintf("model: m\nreplies: [{text: %s, usage: {input: 11, output: 7}, fault: {kind: %s}}]", answer, fault)
	Expect(yaml.Load([]byte(text), &script)).To(Succeed())
	program, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	v := clock.NewVirtual()
	cfg := reach(mocks.NewEngine(program, mocks.EngineOptions{Clock: v}), v)
	cfg.Retry.Max = -1
	if fault == "timeout" {
		cfg.AttemptTimeout = 20 * time.Millisecond
	}
	backend, err := openai.New(cfg)
	Expect(err).NotTo(HaveOccurred())

	reply, err := backend.Complete(ctx, llm.Request{Stream: stream, Messages: []llm.Message{{Role: llm.User, Content: "hi"}}})
	if err == nil {
		return seen{text: reply.Text, finish: reply.Finish, output: reply.Usage.Output}
	}
	var e *llm.Error
	Expect(err).To(BeAssignableToTypeOf(e))
	e = err.(*llm.Error) //nolint:errorlint // asserted in the line above: it is not wrapped
	return seen{kind: e.Kind, text: e.Partial, output: cmp.Or(e.Usage, &llm.Usage{}).Output}
}
