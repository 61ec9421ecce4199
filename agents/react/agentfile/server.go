package agentfile

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Server describes an MCP server that offers actions: a program, over standard input and output, or an address,
// over streamable HTTP.
type Server struct {
	// Command is the program and its arguments. It is started in the workspace, without a shell.
	Command []string `yaml:"command,omitempty" json:"command,omitempty"`
	// URL is the address of a server over HTTP, in place of Command.
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// Headers are sent to URL with each request. ${NAME} in a value is replaced by the environment variable.
	Headers map[string]string `yaml:"headers,omitempty" json:"headers,omitempty"`
	// Env are the names of the environment variables that it gets, besides PATH, HOME and the like.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
	// Timeout limits the time of a call, at most 10m; default 1m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// maxServerTimeout is the longest time limit of a call.
const maxServerTimeout = quantity.Duration(10 * time.Minute)

// variable matches the name of an environment variable.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// Check returns an error for a server that cannot be started or limited.
func (s Server) Check() error {
	switch {
	case s.Timeout < 0 || s.Timeout > maxServerTimeout:
		return fmt.Errorf("the timeout %s is out of range; use at most %s", s.Timeout, maxServerTimeout)
	case s.URL != "":
		return s.checkAddress()
	case len(s.Headers) > 0:
		return fmt.Errorf("headers need a server with a url")
	case len(s.Command) == 0 || strings.TrimSpace(s.Command[0]) == "":
		return fmt.Errorf("the command is empty; name a program and its arguments")
	case slices.ContainsFunc(s.Command, func(arg string) bool { return strings.ContainsRune(arg, 0) }):
		return fmt.Errorf("an argument cannot hold the character NUL")
	}
	for _, name := range s.Env {
		if !variable().MatchString(name) {
			return fmt.Errorf("%q is not the name of an environment variable", clip(name))
		}
	}
	return nil
}

// headerName matches the name of a header.
var headerName = lazyregexp.New("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

// checkAddress returns an error for an address that cannot be connected to.
func (s Server) checkAddress() error {
	at, err := url.Parse(s.URL)
	switch {
	case err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "":
		return fmt.Errorf("%q is not an address such as https://example.com/mcp", clip(s.URL))
	case at.User != nil:
		return fmt.Errorf("the address must not have a name or a password; use headers")
	case len(s.Command) > 0 || len(s.Env) > 0:
		return fmt.Errorf("a server has either a command, with env, or a url, with headers")
	}
	for name, value := range s.Headers {
		if !headerName().MatchString(name) || strings.ContainsAny(value, "\r\n\x00") {
			return fmt.Errorf("the header %q is not valid; its name must be a token and its value one line", clip(name))
		}
	}
	return nil
}

// named matches a server in a flag, with its name.
var named = lazyregexp.New(`^([a-z][a-z0-9_-]*)=(.*)$`)

// ParseServer parses "name=program arguments" or "name=URL". Without a name, the server has the name of the
// program or of the host. Spaces separate the arguments; there are no quotes.
func ParseServer(text string) (name string, s Server, err error) {
	if m := named().FindStringSubmatch(text); m != nil {
		name, text = m[1], m[2]
	}
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		s.URL = strings.TrimSpace(text)
	} else {
		s.Command = strings.Fields(text)
	}
	if err := s.Check(); err != nil {
		return "", s, err
	}
	if name == "" {
		name = s.ownName()
	}
	if !IsName(name) {
		return "", s, fmt.Errorf("the server needs a name, such as files=%s", text)
	}
	return name, s, nil
}

// ownName returns the name of the program, or of the host; "mcp" for an address without a name.
func (s Server) ownName() string {
	plain := func(base string) string {
		return strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(base), "-"), "-_0123456789")
	}
	if at, err := url.Parse(s.URL); s.URL != "" && err == nil {
		host, _, _ := strings.Cut(at.Hostname(), ".")
		return cmp.Or(plain(host), "mcp")
	}
	return plain(s.Command[0][strings.LastIndexAny(s.Command[0], `/\`)+1:])
}

// Hidden reports whether secrets of the server were redacted.
func (s Server) Hidden() bool {
	texts := append(slices.Collect(maps.Values(s.Headers)), s.URL)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "[REDACTED:") })
}

// ParseHeader parses "server=Header: value" and returns its parts.
func ParseHeader(text string) (server, header, value string, err error) {
	server, rest, ok := strings.Cut(text, "=")
	header, value, colon := strings.Cut(rest, ":")
	if !ok || !colon || !IsName(server) {
		return "", "", "", fmt.Errorf("write the name of a server and a header, such as 'docs=Authorization: Bearer ${DOCS_TOKEN}'")
	}
	return server, strings.TrimSpace(header), strings.TrimSpace(value), nil
}

// servers validates the MCP servers of the front matter.
func (l *loader) servers(f *Front, a *Agent) {
	for _, name := range slices.Sorted(maps.Keys(f.MCP)) {
		path := yamlsrc.Join("mcp", name)
		if !names().MatchString(name) {
			l.wrong(path, fmt.Sprintf("%q cannot name a server; use %s", clip(name), namesAre), "")
		}
		if err := f.MCP[name].Check(); err != nil {
			l.wrong(path, err.Error(), "")
		}
	}
	a.Servers = f.MCP
}
