package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is a server of an engine.
type server struct {
	engine *Engine
	at     int // in the program

	mu      sync.Mutex
	current *life
	down    bool // it ended, and refuses one request
	serial  int
	links   map[string]*link // of open HTTP requests
	open    map[*sdk.Server]bool
	issued  map[string]bool // ids of sessions over HTTP
}

// life is the time from a start of the server to its end.
type life struct {
	sdk  *sdk.Server
	http http.Handler
}

// end ends all sessions. Session.Close waits for open calls, which end with their context.
func (l *life) end() {
	for session := range l.sdk.Sessions() {
		_ = session.Close()
	}
}

// link is the way back to the client of a call.
type link struct {
	ctx context.Context //nolint:containedctx // of the HTTP request or the connection
	cut func()          // ends the server
}

func newServer(e *Engine, at int) *server {
	s := &server{engine: e, at: at, links: map[string]*link{}, open: map[*sdk.Server]bool{}, issued: map[string]bool{}}
	s.current = s.newLife()
	return s
}

func (s *server) life() *life {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// maxBody limits the body of a request, and a message on a stream, in bytes.
const maxBody = 4 << 20

// callTool is the method that calls a tool.
const callTool = "tools/call"

// linkHeader identifies the HTTP request of a call. Clients cannot set it.
const linkHeader = "Rehearse-Request"

// newLife returns a server over HTTP, without sessions.
func (s *server) newLife() *life {
	l := &life{sdk: s.newSDK(func(header http.Header) *link {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.links[header.Get(linkHeader)]
	})}
	// Containers reach the server by another name. The URLs of trials cannot be guessed.
	l.http = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return l.sdk }, &sdk.StreamableHTTPOptions{
		JSONResponse: true, MaxRequestBodyBytes: maxBody, DisableLocalhostProtection: true, Logger: slog.New(slog.DiscardHandler),
	})
	return l
}

// newSDK returns a server of the SDK with what the script offers. linkOf returns the link of a request.
func (s *server) newSDK(linkOf func(http.Header) *link) *sdk.Server {
	script := &s.engine.program.servers[s.at]
	server := sdk.NewServer(&sdk.Implementation{Name: script.Name, Version: "1"}, &sdk.ServerOptions{
		Logger: slog.New(slog.DiscardHandler), Capabilities: &sdk.ServerCapabilities{},
	})
	for i := range script.Tools {
		if t := &script.Tools[i]; !t.Later || s.engine.hasAppeared(s.at) {
			addTool(server, t)
		}
	}
	for _, r := range script.Resources {
		name := r.Name
		if name == "" {
			name = r.URI
		}
		server.AddResource(&sdk.Resource{URI: r.URI, Name: name, MIMEType: "text/plain"},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.URI, MIMEType: "text/plain", Text: r.Text}}}, nil
			})
	}
	for _, p := range script.Prompts {
		server.AddPrompt(&sdk.Prompt{Name: p.Name, Description: p.Description},
			func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: p.Text}}}}, nil
			})
	}
	server.AddReceivingMiddleware(s.middleware(linkOf))
	return server
}

// resultKey is the key of the result of a call in its context.
type resultKey struct{}

// addTool offers a tool. Its calls are answered by the middleware.
func addTool(server *sdk.Server, t *Tool) {
	server.AddTool(&sdk.Tool{Name: t.Name, Description: t.Description, InputSchema: t.input()},
		func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			result := *ctx.Value(resultKey{}).(*sdk.CallToolResult) // a copy, as the SDK changes it
			return &result, nil
		})
}

// middleware counts messages, and answers calls of tools from the script, also of tools that it does not have.
func (s *server) middleware(linkOf func(http.Header) *link) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			s.engine.served.Add(1)
			params, ok := req.GetParams().(*sdk.CallToolParamsRaw)
			if method != callTool || !ok {
				return next(ctx, method, req)
			}
			var header http.Header
			if extra := req.GetExtra(); extra != nil {
				header = extra.Header
			}
			l := linkOf(header)
			if l == nil { // its request has ended
				return nil, context.Canceled
			}
			// The client's context ends the sleeps of a virtual clock at once.
			joined, cancel := context.WithCancel(l.ctx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			defer context.AfterFunc(s.engine.gone, cancel)()
			result, err := s.engine.answer(joined, s.at, params, l.cut)
			if err != nil {
				return nil, err // not a nil result in a non-nil interface
			}
			// The SDK adds to the result what the client's version of the protocol requires.
			return next(context.WithValue(ctx, resultKey{}, result), method, req)
		}
	}
}

func (e *Engine) hasAppeared(server int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.appeared[server]
}

// appear offers the tools with later: true and announces the change to all sessions.
func (e *Engine) appear(at int) {
	e.mu.Lock()
	e.appeared[at] = true
	e.mu.Unlock()
	s := e.servers[at]
	s.mu.Lock()
	servers := append(s.streams(), s.current.sdk)
	s.mu.Unlock()
	script := &e.program.servers[at]
	for _, server := range servers {
		announce(server, script)
	}
}

// announce adds the later tools, or the first tool again, which is announced as well.
func announce(server *sdk.Server, script *Server) {
	some := false
	for i := range script.Tools {
		if t := &script.Tools[i]; t.Later {
			addTool(server, t)
			some = true
		}
	}
	if !some && len(script.Tools) > 0 {
		addTool(server, &script.Tools[0])
	}
}

// restart ends the sessions of the server. The next request is refused, and after it the server is there again.
func (s *server) restart() {
	next := s.newLife()
	s.mu.Lock()
	old := s.current
	s.current, s.down = next, true
	s.mu.Unlock()
	s.engine.active.Go(old.end) // it waits for the call that ended the server
}
