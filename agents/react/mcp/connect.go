package mcp

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// connection is a connection to a server.
type connection struct {
	session *sdk.ClientSession
	process *child.Process // nil for a server over HTTP
	stderr  *child.Tail
	web     *http.Transport // nil for a program, and with Options.Transport
}

// connect starts the program of a server, or connects to its address, and completes the handshake. The program
// ends with run, and ctx limits the handshake. Changed is called when the list of tools has changed.
func connect(run, ctx context.Context, spec agentfile.Server, o Options, changed func()) (*connection, error) {
	c := &connection{}
	transport, err := c.open(run, spec, o)
	if err != nil {
		return c, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "rehearse", Version: "1"}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed() },
	})
	c.session, err = client.Connect(ctx, transport, nil)
	return c, err
}

func (c *connection) open(run context.Context, spec agentfile.Server, o Options) (sdk.Transport, error) {
	if spec.URL != "" {
		headers, err := headersOf(spec)
		if err != nil {
			return nil, err
		}
		next := o.Transport
		if next == nil {
			c.web = http.DefaultTransport.(*http.Transport).Clone()
			next = c.web
		}
		client := &http.Client{
			Transport:     &limited{next: next, headers: headers},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this server
		}
		return &sdk.StreamableClientTransport{Endpoint: spec.URL, HTTPClient: client, MaxRetries: 2, MaxEventSize: maxFrame}, nil
	}
	c.stderr = &child.Tail{}
	process, err := child.Start(run, child.Program{
		Argv: slices.Concat(o.Wrapper, spec.Command), Dir: o.Workspace,
		Env: action.Environment(spec.Env...), Interactive: true, Stderr: c.stderr, Grace: grace,
	})
	if err != nil {
		return nil, err
	}
	c.process = process
	return &sdk.IOTransport{Reader: process.Stdout, Writer: process.Stdin, MaxLineLength: maxFrame}, nil
}

// lastWords returns the end of the standard error of a program that ended, if it has any.
func (c *connection) lastWords() string {
	if c.process == nil || !c.process.Await(context.Background(), exitWait) {
		return ""
	}
	c.process.Wait()
	if text := c.stderr.Lines(); text != "" {
		return "; it wrote: " + sanitize.Line(text, 500)
	}
	return ""
}

// close ends a program, by closing its standard input and then by signals, or the connection to an address.
func (c *connection) close() {
	if c.process != nil {
		_ = c.process.Stdin.Close() // by the protocol, the sign to end
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		c.process.Stop(ctx)
	}
	if c.session != nil {
		_ = c.session.Close()
	}
	if c.web != nil {
		c.web.CloseIdleConnections()
	}
}

// headersOf returns the headers of a server with the values of environment variables.
func headersOf(spec agentfile.Server) (http.Header, error) {
	headers := http.Header{}
	for name, value := range spec.Headers {
		var missing []string
		value = os.Expand(value, func(variable string) string {
			text, ok := os.LookupEnv(variable) //nolint:forbidigo // keys are in the environment only
			if !ok {
				missing = append(missing, variable)
			}
			return text
		})
		switch {
		case len(missing) > 0:
			return nil, fmt.Errorf("its header %s needs the environment variable %s, which is not set", name, strings.Join(missing, ", "))
		case strings.ContainsAny(value, "\r\n\x00"):
			return nil, fmt.Errorf("its header %s has a line break", name)
		}
		headers.Set(name, value)
	}
	return headers, nil
}

// secretsOf returns pairs of texts and their replacements: the values of headers, which must not appear in
// texts, and their longer parts. "Bearer" is not one of these.
func secretsOf(spec agentfile.Server) []string {
	headers, err := headersOf(spec)
	if err != nil {
		return nil
	}
	const shortest = 8
	var all []string
	for _, values := range headers {
		for _, value := range append(values, strings.Fields(values[0])...) {
			if len(value) >= shortest {
				all = append(all, value, "[REDACTED:header]")
			}
		}
	}
	return all
}

// limited adds headers to requests and limits the answers.
type limited struct {
	next    http.RoundTripper
	headers http.Header
}

// RoundTrip implements http.RoundTripper.
func (l *limited) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	maps.Copy(req.Header, l.headers)
	resp, err := l.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	most := int64(maxFrame)
	if req.Method == http.MethodGet { // a stream of messages during the whole run, each of which the SDK limits
		most = maxStream
	}
	resp.Body = &capped{ReadCloser: resp.Body, most: most, left: most}
	return resp, nil
}

// capped is a body that may not be larger than its limit.
type capped struct {
	io.ReadCloser
	most, left int64
}

// Read implements io.Reader.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("the server sent more than %d bytes", c.most)
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// restartWait returns the wait before the nth restart of a server, from 1.
func restartWait(n int) time.Duration { return firstWait << (n - 1) }
