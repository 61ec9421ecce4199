package mcp_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// A client written by hand. ID stands for the id of its session.
const (
	handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"raw","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	listTools   = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	// modern is a call of METHOD in version VERSION of the protocol, which has no sessions.
	modern = `{"jsonrpc":"2.0","id":2,"method":"METHOD","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"VERSION",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`
)

// message is a request of a client over HTTP, after the others.
type message struct {
	method, body string
	header       []string // "name: value"
}

// post sends a message in the client's session.
func post(body string, header ...string) message {
	return message{http.MethodPost, body, append([]string{"Mcp-Session-Id: ID"}, header...)}
}

// alone sends a message without a session.
func alone(body string, header ...string) message { return message{http.MethodPost, body, header} }

var plain = "rules: [{text: x, optional: true}]"

// sendAll sends messages over HTTP, and returns the findings.
func sendAll(messages []message) []string {
	GinkgoHelper()
	p := start(clock.Real(), server("http", plain))
	url, session := p.url("tickets"), ""
	for _, m := range messages {
		r, err := http.NewRequest(m.method, url, strings.NewReader(m.body))
		Expect(err).NotTo(HaveOccurred())
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for _, line := range m.header {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Set(name, strings.Replace(value, "ID", session, 1))
		}
		resp, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		_, err = io.Copy(io.Discard, resp.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(resp.Body.Close()).To(Succeed())
		session = cmp.Or(resp.Header.Get("Mcp-Session-Id"), session)
	}
	_, report := p.ended()
	return report.Invalid
}

// write starts the program of a server over standard input and output, writes lines, and returns the findings.
func write(lines ...string) []string {
	GinkgoHelper()
	p := start(clock.Real(), server("stdio", plain))
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	argv := mcp.Command(self, p.url("tickets"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	_ = cmd.Run() // with an error if the server ended first
	_, report := p.ended()
	return report.Invalid
}

func versioned(method, version string) string {
	return strings.NewReplacer("METHOD", method, "VERSION", version).Replace(modern)
}

// about matches a finding with a rule, the problem and the remedy.
func about(rule, problem, remedy string) OmegaMatcher {
	return HaveExactElements(And(HavePrefix("message to the MCP server tickets: "),
		ContainSubstring(" (the rule "+rule+"): "), ContainSubstring(problem), ContainSubstring(remedy)))
}

var _ = DescribeTable("A message that breaks the protocol is a finding", Label("H-04"),
	func(messages []message, finding OmegaMatcher) { Expect(sendAll(messages)).To(finding) },
	Entry("an unknown method", []message{alone(handshake), post(`{"jsonrpc":"2.0","id":2,"method":"tool/list"}`)},
		about("method", `"tool/list" is not a method of the protocol (did you mean "tools/list"?)`, "specification")),
	Entry("an unknown method of a client without a session", []message{alone(`{"jsonrpc":"2.0","id":2,"method":"foo"}`)},
		about("method", `"foo" is not`, "specification")),
	Entry("no initialize", []message{alone(listTools)}, about("initialize", "tools/list was called without a session", "send initialize")),
	Entry("no id of the session", []message{alone(handshake), alone(listTools)},
		about("session-id", "tools/list was called without the header Mcp-Session-Id", "the response to initialize")),
	Entry("a wrong id of the session", []message{alone(handshake), alone(listTools, "Mcp-Session-Id: undefined")},
		about("session-id", `the header Mcp-Session-Id has "undefined", which the server has not issued`, "the response to initialize")),
	Entry("a version that does not exist", []message{alone(handshake), post(listTools, "MCP-Protocol-Version: 1999-01-01")},
		about("version", `the header Mcp-Protocol-Version has version "1999-01-01"`, "2025-11-25")),
	Entry("a later version that does not exist", []message{alone(handshake), post(listTools, "MCP-Protocol-Version: 2099-01-01")},
		about("version", `"2099-01-01"`, "2025-11-25")),
	Entry("no JSON", []message{alone(handshake), post("hello")},
		about("json-rpc", `"hello" is not a message of JSON-RPC 2.0: it is not JSON`, `"jsonrpc": "2.0"`)),
	Entry("no JSON-RPC", []message{alone(handshake), post(`{"id":2,"method":"ping"}`)}, about("json-rpc", "version tag", `"jsonrpc": "2.0"`)),
	Entry("a call without an id", []message{alone(handshake), post(`{"jsonrpc":"2.0","method":"tools/list"}`)},
		about("json-rpc", "tools/list was sent without an id", "add an id")),
	Entry("no message", []message{alone(handshake), post("")}, about("http", "status 400: POST requires a non-empty body", "streamable HTTP")),
	Entry("a body that is too large", []message{alone(handshake), post(`"` + strings.Repeat("x", 4<<20) + `"`)},
		about("http", "status 413", "streamable HTTP")),
	Entry("a type that streamable HTTP does not have", []message{alone(handshake, "Accept: application/json")},
		about("http", "status 400: Accept must contain both", "streamable HTTP")),
	Entry("the same mistake again is the same finding", []message{alone(listTools), alone(listTools)},
		about("initialize", "tools/list", "send initialize")),
)

var _ = It("A message that breaks the protocol is a finding over standard input and output, too", Label("H-04"), func() {
	Expect(write(handshake, `{"jsonrpc":"2.0","id":2,"method":"foo"}`)).To(about("method", `"foo" is not`, "specification"))
	Expect(write(initialized, listTools)).To(about("initialize", "tools/list was called without a session", "send initialize"))
	Expect(write(handshake, "hello")).To(about("json-rpc", `"hello" is not a message of JSON-RPC 2.0`, `"jsonrpc": "2.0"`))
	Expect(write(handshake, "{", `"jsonrpc":"2.0","id":2,"method":"ping"}`)).To(ContainElement(ContainSubstring("(the rule json-rpc)")),
		"a message is a line")
	Expect(write(versioned("tools/list", "2099-01-01"))).To(about("version", `_meta of tools/list has version "2099-01-01"`, "2025-11-25"))
})

var _ = It("The versions that exist are those of the SDK", func() {
	p := start(clock.Real(), server("http", plain))
	r, err := http.NewRequest(http.MethodPost, p.url("tickets"), strings.NewReader(listTools))
	Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Mcp-Protocol-Version", "1999-01-01")
	resp, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	refusal, err := io.ReadAll(resp.Body)
	Expect(err).NotTo(HaveOccurred())
	_, versions, ok := strings.Cut(strings.TrimSpace(string(refusal)), "supported versions: ")
	Expect(ok).To(BeTrue(), "%s", refusal)
	known := strings.Split(strings.TrimSuffix(versions, ")"), ",")
	for _, version := range known {
		Expect(sendAll([]message{alone(handshake), post(listTools, "MCP-Protocol-Version: "+version)})).To(BeEmpty(), version)
	}
	found := sendAll([]message{alone(handshake), post(listTools, "MCP-Protocol-Version: 1999-01-01")})
	_, finding, _ := strings.Cut(found[0], "there are ")
	Expect(strings.Split(finding, ", ")).To(ConsistOf(known))
})

// What clients do on their own; see the specification of each version, and the clients of test/conformance.
var _ = It("What clients try, negotiate and do after the end of a session is not a finding", Label("H-04"), func() {
	optional := []string{
		"ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list", "server/discover",
		`logging/setLevel","params":{"level":"info"},"x":"`, `resources/subscribe","params":{"uri":"ticket://1"},"x":"`,
		`resources/read","params":{"uri":"ticket://2"},"x":"`, `prompts/get","params":{"name":"none"},"x":"`,
		`completion/complete","params":{"ref":{"type":"ref/prompt","name":"triage"},"argument":{"name":"a","value":"b"}},"x":"`,
	}
	messages := []message{
		alone(versioned("server/discover", "2026-07-28"), "MCP-Protocol-Version: 2026-07-28"),
		alone(versioned("server/discover", "2099-01-01"), "MCP-Protocol-Version: 2099-01-01"),
		alone(versioned("tools/list", "2026-07-28"), "MCP-Protocol-Version: 2026-07-28"),
		alone(`{"jsonrpc":"2.0","id":1,"method":"ping"}`),
		{method: http.MethodGet},
		alone(strings.Replace(handshake, "2025-06-18", "2099-01-01", 1)), // negotiated
		post(initialized, "MCP-Protocol-Version: 2025-06-18"),
		post(`{"jsonrpc":"2.0","method":"notifications/of-an-extension"}`),
		post(`{"jsonrpc":"2.0","id":9,"result":{}}`),
	}
	lines := []string{
		versioned("server/discover", "2026-07-28"), versioned("tools/list", "2026-07-28"), versioned("server/discover", "2099-01-01"),
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, handshake, "", initialized + "\r",
		`{"jsonrpc":"2.0","method":"notifications/of-an-extension"}`,
	}
	for i, method := range optional {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s"}`, 10+i, method)
		messages, lines = append(messages, post(body)), append(lines, body)
	}
	messages = append(messages,
		message{method: http.MethodDelete, header: []string{"Mcp-Session-Id: ID"}}, post(listTools), message{method: http.MethodPut})
	Expect(sendAll(messages)).To(BeEmpty())
	Expect(write(lines...)).To(BeEmpty())
})
