package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// site is a server over HTTP that wants a header.
type site struct {
	*httptest.Server
	end    func()      // ends the sessions
	refuse atomic.Bool // sessions are forgotten, and calls fail
}

func newSite() *site {
	s := &site{}
	server := greeter()
	s.end = func() {
		for session := range server.Sessions() {
			_ = session.Close()
		}
	}
	sdk.AddTool(server, &sdk.Tool{Name: "leak"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "you sent " + r.Extra.Header.Get("Authorization")}}}, nil, nil
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
		case s.refuse.Load():
			http.Error(w, "no such session", http.StatusNotFound)
		case r.Header.Get("Authorization") != "Bearer hunter2-and-more":
			http.Error(w, "who are you, "+r.Header.Get("Authorization")+"?", http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	DeferCleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *site) spec(path string) agentfile.Server {
	return agentfile.Server{URL: s.URL + path, Headers: map[string]string{"Authorization": "Bearer ${GREETER_TOKEN}"}}
}

var _ = Describe("An MCP server over HTTP", Label("R-05"), func() {
	It("is used like a program, with headers from the environment that appear nowhere", func() {
		GinkgoT().Setenv("GREETER_TOKEN", "hunter2-and-more")
		set, pool, err := connect(newSite().spec("/mcp"), auto)
		Expect(err).NotTo(HaveOccurred())
		defer pool.Close()
		Expect(set.Describe()).To(ContainSubstring("\n- greeter.greet {name}: greets"))
		Expect(do(set, "greeter.greet", "name: Ann").Observation).To(HavePrefix("Hello Ann"))
		Expect(do(set, "greeter.fail", "{}").Rule).To(Equal("tool-error"))
		Expect(do(set, "greeter.leak", "{}").Observation).To(Equal("you sent [REDACTED:header]"))
		Expect(do(set, "greeter.flood", "{}").Rule).To(Equal("server-gone"), "more than 4 MiB")
	})

	It("is connected again after it lost the session", func() {
		GinkgoT().Setenv("GREETER_TOKEN", "hunter2-and-more")
		s := newSite()
		defer s.end()
		set, pool, err := connect(s.spec("/mcp"), auto)
		Expect(err).NotTo(HaveOccurred())
		defer pool.Close()
		s.refuse.Store(true)
		Expect(do(set, "greeter.greet", "name: Ann").Rule).To(Equal("server-gone"))
		Expect(do(set, "greeter.greet", "name: Ann").Observation).To(ContainSubstring("cannot be started again"))
		s.refuse.Store(false)
		Expect(do(set, "greeter.greet", "name: Ann").Observation).To(HavePrefix("Hello Ann"))
	})

	It("follows changes of its tools", func() {
		GinkgoT().Setenv("GREETER_TOKEN", "hunter2-and-more")
		set, pool, err := connect(newSite().spec("/mcp"), auto)
		Expect(err).NotTo(HaveOccurred())
		defer pool.Close()
		Expect(do(set, "greeter.grow", "{}").Failed).To(BeFalse())
		Eventually(func() string { return do(set, "greeter.greet", "name: Bob").Observation }).
			WithTimeout(10 * time.Second).Should(ContainSubstring("- new: greeter.wave"))
	})

	DescribeTable("is missing, without its secrets, if it cannot be used",
		func(token, path, message string) {
			GinkgoT().Setenv("GREETER_TOKEN", token)
			_, _, err := connect(newSite().spec(path), auto)
			Expect(err).To(MatchError(And(HavePrefix("start the MCP server greeter: "), ContainSubstring(message))))
			Expect(err.Error()).NotTo(ContainSubstring("hunter"))
		},
		Entry("another token", "hunter3-and-less", "/mcp", "Unauthorized"),
		Entry("a redirection, which could lead the token elsewhere", "hunter2-and-more", "/moved", "Temporary Redirect"),
		Entry("a token with a line break", "hunter2\nX: y", "/mcp", "its header Authorization has a line break"),
	)

	It("needs its variables, and an address", func() {
		s := newSite().spec("/mcp")
		s.Headers["Authorization"] = "Bearer ${NO_SUCH_TOKEN_HERE}"
		_, _, err := connect(s, auto)
		Expect(err).To(MatchError(ContainSubstring("needs the environment variable NO_SUCH_TOKEN_HERE, which is not set")))
		s = agentfile.Server{URL: "http://127.0.0.1:1/mcp"}
		_, _, err = connect(s, auto)
		Expect(err).To(MatchError(ContainSubstring("connection refused")))
		Expect(strings.Count(err.Error(), "\n")).To(BeZero())
	})
})
