package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

func TestMain(m *testing.M) {
	mcp.Main() // this binary is also the program of stdio servers
	os.Exit(m.Run())
}

func TestMCP(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "scripted MCP servers")
}

// play is an engine with what it reported.
type play struct {
	engine *mcp.Engine
	clock  clock.Clock
	mu     sync.Mutex
	calls  []mcp.Call
}

// script parses the servers of a script.
func script(text string) []mcp.Server {
	GinkgoHelper()
	var servers []mcp.Server
	Expect(yaml.Load([]byte(text), &servers, yaml.WithKnownFields())).To(Succeed())
	return servers
}

func start(clk clock.Clock, text string, inject ...mcp.Injection) *play {
	GinkgoHelper()
	program, err := mcp.Compile(script(text))
	Expect(err).NotTo(HaveOccurred())
	p := &play{clock: clk}
	p.engine = mcp.NewEngine(program, mcp.Options{Clock: clk, Inject: inject, OnCall: func(c mcp.Call) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls = append(p.calls, c)
	}})
	DeferCleanup(p.engine.Close)
	return p
}

// ended returns the calls and findings at the end of a trial.
func (p *play) ended() ([]mcp.Call, mcp.Report) {
	GinkgoHelper()
	Expect(p.engine.Close()).To(Succeed())
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.engine.Report()
}

// connect connects a client of the SDK.
func connect(t sdk.Transport, changed func()) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "spec", Version: "1"}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed() },
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return client.Connect(ctx, t, nil)
}

// inProcess is the transport to a server without sockets.
func (p *play) inProcess(name string) sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint: "http://127.0.0.1/mcp/" + name, HTTPClient: &http.Client{Transport: mcp.NewTransport(p.engine)}, MaxRetries: -1,
	}
}

// url serves the engine over loopback.
func (p *play) url(name string) string {
	server := httptest.NewServer(p.engine)
	DeferCleanup(func() {
		_ = p.engine.Close() // it ends open streams
		server.Close()
	})
	return server.URL + "/t/1/mcp/" + name
}

// overHTTP is the transport to a server over loopback.
func (p *play) overHTTP(name string) sdk.Transport {
	return &sdk.StreamableClientTransport{Endpoint: p.url(name), MaxRetries: -1}
}

// overStdio returns how to start a server as a program.
func (p *play) overStdio(name string) func() sdk.Transport {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	argv := mcp.Command(self, p.url(name))
	return func() sdk.Transport {
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		return &sdk.CommandTransport{Command: cmd}
	}
}

func text(r *sdk.CallToolResult) string {
	GinkgoHelper()
	Expect(r.Content).To(HaveLen(1))
	return r.Content[0].(*sdk.TextContent).Text
}
