package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// Headers of streamable HTTP.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// Methods with a meaning of their own for the start of a session.
const (
	initialize = "initialize"
	discover   = "server/discover" // clients of 2026-07-28 ask older servers for their versions, too
)

// requests are the methods that clients call in any version of the protocol. A server need not have all of them, so
// clients may try.
var requests = []string{
	initialize, "ping", discover, "tools/list", callTool, "resources/list", "resources/templates/list", "resources/read",
	"resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel",
	"subscriptions/listen", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update",
}

// versions are the versions of the protocol that the servers know. Version sessionless has no sessions.
var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", sessionless}

const sessionless = "2026-07-28"

// mistake is a use of the protocol that a server refuses, with the name of the rule and the remedy.
type mistake struct{ rule, problem, remedy string }

// session is what a server knows of a client before a message.
type session struct {
	initialized bool
	// missing describes the mistake of a call without a session.
	missing mistake
}

// uninitialized is the mistake of a call before initialize.
var uninitialized = mistake{
	rule: "initialize", problem: "without a session", remedy: "send initialize, wait for its result, and send notifications/initialized first",
}

// check returns the first mistake in a message of a client, or nil. It follows initialize.
func (s *session) check(message []byte) *mistake {
	var batch []json.RawMessage
	if json.Unmarshal(message, &batch) != nil || len(batch) == 0 {
		batch = []json.RawMessage{message}
	}
	for _, one := range batch {
		decoded, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return notJSONRPC(one, err)
		}
		request, ok := decoded.(*jsonrpc.Request)
		if !ok || !request.IsCall() && !slices.Contains(requests, request.Method) { // an unknown notification is ignored
			continue
		}
		if m := s.checkCall(request); m != nil {
			return m
		}
	}
	return nil
}

func notJSONRPC(message []byte, err error) *mistake {
	reason := sanitize.Line(err.Error(), maxReason)
	if !json.Valid(message) {
		reason = "it is not JSON"
	}
	return &mistake{
		rule: "json-rpc", problem: fmt.Sprintf("%s is not a message of JSON-RPC 2.0: %s", shorten(string(bytes.TrimSpace(message))), reason),
		remedy: `send JSON objects with "jsonrpc": "2.0"`,
	}
}

// checkCall returns the mistake of a call, or nil.
func (s *session) checkCall(r *jsonrpc.Request) *mistake {
	version := versionOf(r.Params)
	switch {
	case !slices.Contains(requests, r.Method):
		return &mistake{
			rule: "method", problem: fmt.Sprintf("%s is not a method of the protocol%s", shorten(r.Method), suggest.Hint(r.Method, requests)),
			remedy: "call the methods that the specification has for clients",
		}
	case !r.IsCall():
		return &mistake{rule: "json-rpc", problem: r.Method + " was sent without an id", remedy: "add an id, by which the result is found"}
	case r.Method == initialize:
		s.initialized = true
	case r.Method == discover, r.Method == "ping":
	case version != "" && !slices.Contains(versions, version):
		return unknownVersion("_meta of "+r.Method, version)
	case !s.initialized && version < sessionless:
		m := s.missing
		m.problem = fmt.Sprintf("%s was called %s", r.Method, m.problem)
		return &m
	}
	return nil
}

// versionOf returns the version of the protocol that a call has itself, or "".
func versionOf(params json.RawMessage) string {
	var p struct {
		Meta struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p) // params without a version, if they have another form
	return p.Meta.Version
}

func unknownVersion(place, version string) *mistake {
	return &mistake{
		rule: "version", problem: fmt.Sprintf("%s has version %s of the protocol, which does not exist", place, shorten(version)),
		remedy: "send the version in the result of initialize; there are " + strings.Join(versions, ", "),
	}
}

// checkHTTP returns the first mistake in a request with a message, or nil.
func (s *server) checkHTTP(header http.Header, message []byte) *mistake {
	id, version := header.Get(sessionHeader), header.Get(versionHeader)
	known, some := s.sessionState(id)
	if id != "" && !known {
		return &mistake{
			rule: "session-id", problem: fmt.Sprintf("the header %s has %s, which the server has not issued", sessionHeader, shorten(id)),
			remedy: "repeat the id that the response to initialize has in this header",
		}
	}
	client := session{initialized: known, missing: uninitialized}
	if some {
		client.missing = mistake{
			rule: "session-id", problem: "without the header " + sessionHeader,
			remedy: "send the id that the response to initialize has in this header with every later request",
		}
	}
	if version >= sessionless {
		client.initialized = true // it is told which versions this server has
	}
	if m := client.check(message); m != nil {
		return m
	}
	if version != "" && !slices.Contains(versions, version) && methodOf(message) != discover {
		return unknownVersion("the header "+versionHeader, version)
	}
	return nil
}

// checkRefusal returns the mistake in a request that the server refused with a text, or nil. An error in JSON has its reason
// in the conversation, such as a version that is negotiated.
func checkRefusal(status int, header http.Header, text []byte) *mistake {
	reason := string(bytes.TrimSpace(text))
	// The end of a session is no mistake, nor is an unknown notification.
	if status < http.StatusBadRequest || status >= http.StatusInternalServerError || status == http.StatusNotFound ||
		!strings.HasPrefix(header.Get("Content-Type"), "text/plain") || strings.HasPrefix(reason, "JSON RPC not handled") {
		return nil
	}
	return &mistake{
		rule: "http", problem: fmt.Sprintf("the request was refused with status %d: %s", status, reason),
		remedy: "follow the section on streamable HTTP of the specification",
	}
}

// methodOf returns the method of a message, or "".
func methodOf(message []byte) string {
	var m struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(message, &m) // without a method it is another message
	return m.Method
}

// sessionState reports whether the server has issued a session with this id, and whether it has issued any. Sessions
// that have ended count: a client learns of their end by an error.
func (s *server) sessionState(id string) (known, some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued[id], len(s.issued) > 0
}

// issue records the session in the header of a response.
func (s *server) issue(header http.Header) {
	if id := header.Get(sessionHeader); id != "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.issued[id] = true
	}
}

// reportMistake adds a mistake to the findings, unless it is nil or has been found before.
func (s *server) reportMistake(m *mistake) {
	if m == nil {
		return
	}
	e := s.engine
	text := fmt.Sprintf("message to the MCP server %s: %s (the rule %s): %s", e.program.servers[s.at].Name, m.problem, m.rule, m.remedy)
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.invalid) < maxFindings && !slices.Contains(e.invalid, text) {
		e.invalid = append(e.invalid, text)
	}
}

// observer splits what a client writes to the standard input of a server into lines, and calls check for each. A
// message is one line, by the specification.
type observer struct {
	check func(line []byte)
	line  []byte
}

// Write implements io.Writer. It never fails.
func (o *observer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		if len(o.line) <= maxBody { // a longer one is refused
			o.line = append(o.line, part...)
		}
		if ended {
			if len(bytes.TrimSpace(o.line)) > 0 {
				o.check(o.line)
			}
			o.line = o.line[:0]
		}
		rest = after
	}
	return len(p), nil
}
