package agentfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Server describes an MCP server: a program that offers actions over standard input and output.
type Server struct {
	// Command is the program and its arguments. It is started in the workspace, without a shell and
	// without a sandbox.
	Command []string `yaml:"command" json:"command"`
	// Env are the names of the environment variables that it gets, besides PATH, HOME and the like.
	Env []string `yaml:"env,omitempty" json:"env,omitempty"`
	// Timeout limits the time of a call, at most 10m; default 1m.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// maxServerTimeout is the longest time limit of a call.
const maxServerTimeout = quantity.Duration(10 * time.Minute)

// variable matches the name of an environment variable.
var variable = lazy(`^[A-Za-z_][A-Za-z0-9_]{0,255}$`)

// Check returns an error for a server that cannot be started or limited.
func (s Server) Check() error {
	switch {
	case len(s.Command) == 0 || strings.TrimSpace(s.Command[0]) == "":
		return fmt.Errorf("the command is empty; name a program and its arguments")
	case slices.ContainsFunc(s.Command, func(arg string) bool { return strings.ContainsRune(arg, 0) }):
		return fmt.Errorf("an argument cannot hold the character NUL")
	case s.Timeout < 0 || s.Timeout > maxServerTimeout:
		return fmt.Errorf("the timeout %s is out of range; use at most %s", s.Timeout, maxServerTimeout)
	}
	for _, name := range s.Env {
		if !variable().MatchString(name) {
			return fmt.Errorf("%q is not the name of an environment variable", clip(name))
		}
	}
	return nil
}

// named matches a server in a flag, with its name.
var named = regexp.MustCompile(`^([a-z][a-z0-9_-]*)=(.*)$`)

// ParseServer parses "name=program arguments" or "program arguments", whose name is that of the program. Spaces
// separate the arguments; there are no quotes.
func ParseServer(text string) (name string, s Server, err error) {
	if m := named.FindStringSubmatch(text); m != nil {
		name, text = m[1], m[2]
	}
	s.Command = strings.Fields(text)
	if err := s.Check(); err != nil {
		return "", s, err
	}
	if name == "" {
		base := s.Command[0][strings.LastIndexAny(s.Command[0], `/\`)+1:]
		name = strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(strings.ToLower(base), "-"), "-_0123456789")
	}
	if !IsName(name) {
		return "", s, fmt.Errorf("the server needs a name, such as files=%s", strings.Join(s.Command, " "))
	}
	return name, s, nil
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
