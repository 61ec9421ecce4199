package mocks_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

func parse(text string) (mocks.Script, error) {
	var s mocks.Script
	err := yaml.Load([]byte(text), &s, yaml.WithKnownFields())
	return s, err
}

func compile(text string) *mocks.Program {
	GinkgoHelper()
	script, err := parse(text)
	Expect(err).NotTo(HaveOccurred())
	program, err := mocks.Compile(script)
	Expect(err).NotTo(HaveOccurred())
	return program
}

// rig is one engine and a client that reaches it.
type rig struct {
	engine *mocks.Engine
	clock  *clock.Virtual
	client *http.Client
	base   string
	// settle ends the open exchanges and waits until the engine has seen the end of each.
	settle func()
}

// inProcess connects without sockets.
func inProcess(p *mocks.Program, o mocks.EngineOptions) *rig {
	v := clock.NewVirtual()
	o.Clock = v
	e := mocks.NewEngine(p, o)
	return &rig{e, v, &http.Client{Transport: mocks.NewTransport(e)}, "http://mock/v1", func() {}}
}

// overSocket connects over loopback, on the same kind of clock.
func overSocket(p *mocks.Program, o mocks.EngineOptions) *rig {
	GinkgoHelper()
	v := clock.NewVirtual()
	o.Clock = v
	e := mocks.NewEngine(p, o)
	server := &mocks.Server{}
	Expect(server.Attach("7", e)).To(Succeed())
	listening := httptest.NewServer(server)
	DeferCleanup(listening.Close)
	transport := &http.Transport{}
	DeferCleanup(transport.CloseIdleConnections)
	settle := func() {
		GinkgoHelper()
		Expect(server.Detach(context.Background(), "7")).To(Succeed())
		Expect(server.Attach("7", e)).To(Succeed())
	}
	return &rig{e, v, &http.Client{Transport: transport}, listening.URL + "/t/7/v1", settle}
}

var ways = map[string]func(*mocks.Program, mocks.EngineOptions) *rig{
	"in process": inProcess, "over a socket": overSocket,
}

// outcome is the result of one call as a client sees it.
type outcome struct {
	Status int
	Type   string
	Body   string
	Err    string // its class
}

// text is the content of an answer that is not streamed.
func (o outcome) text() string {
	var r struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.Unmarshal([]byte(o.Body), &r) != nil || len(r.Choices) == 0 {
		return ""
	}
	return r.Choices[0].Message.Content
}

// problem is the code and the message of an error answer.
func (o outcome) problem() (code, message string) {
	var r struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(o.Body), &r) != nil {
		return "", ""
	}
	return r.Error.Code, r.Error.Message
}

type message map[string]any

func user(text string) message      { return message{"role": "user", "content": text} }
func assistant(text string) message { return message{"role": "assistant", "content": text} }

// chat is a request's body; fields replace or add what they name.
func chat(fields map[string]any, messages ...message) string {
	request := map[string]any{"model": "m", "messages": messages}
	for k, v := range fields {
		request[k] = v
	}
	data, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (r *rig) post(ctx context.Context, body string) outcome {
	return r.do(ctx, http.MethodPost, "/chat/completions", body, nil)
}

func (r *rig) do(ctx context.Context, method, path, body string, header http.Header) outcome {
	base := r.base
	if strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/model/") {
		base = strings.TrimSuffix(base, "/v1")
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path, strings.NewReader(body))
	if err != nil {
		return outcome{Err: err.Error()}
	}
	if strings.HasPrefix(path, "/messages") {
		request.Header.Set("Anthropic-Version", "2023-06-01")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := r.client.Do(request)
	if err != nil {
		return r.left(outcome{Err: class(err)})
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return r.left(outcome{response.StatusCode, response.Header.Get("Content-Type"), string(data), class(err)})
}

// left returns o after a server that this client no longer waits for has stopped: one that goes on sleeping
// would run into the deadline of the next request.
func (r *rig) left(o outcome) outcome {
	if o.Err == "deadline" {
		r.settle()
	}
	return o
}

// ask is one call whose last user message is text.
func (r *rig) ask(text string) outcome {
	return r.post(context.Background(), chat(nil, user(text)))
}

// class names the kind of an error in the same way for both transports.
func class(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut off"
	case errors.Is(err, context.DeadlineExceeded):
		return "deadline"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	case errors.Is(err, io.EOF):
		return "closed"
	}
	return err.Error()
}

// texts are the contents of several outcomes.
func texts(outcomes ...outcome) []string {
	var all []string
	for _, o := range outcomes {
		all = append(all, o.text())
	}
	return all
}

func toolCall(id string) message {
	return message{"role": "assistant", "content": nil, "tool_calls": []any{
		map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}},
	}}
}

func toolResult(id, text string) message {
	return message{"role": "tool", "tool_call_id": id, "content": text}
}
