package scenarios

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// Hosts are other machines that an external agent may call without ending the trial. None of them is reached.
type Hosts struct {
	// Refuse lists hosts whose requests are refused, and the agent has to go on without them:
	// "telemetry.example.com", "*.example.com" for all names below, or "example.com:8443" for one port.
	Refuse []string `yaml:"refuse,omitempty" json:"refuse,omitempty"`
	// Stub maps hosts, or hosts with a path ("flags.example.com/v1/flags"), to the text that answers each of their
	// requests with the status 200. Only clients that use HTTP_PROXY and HTTPS_PROXY get it; for https they must trust
	// the certificates that SSL_CERT_FILE or NODE_EXTRA_CA_CERTS names.
	Stub map[string]string `yaml:"stub,omitempty" json:"stub,omitempty"`
}

// Refuses reports whether the requests to a host with its port are refused without an error.
func (h *Hosts) Refuses(hostport string) bool {
	return slices.ContainsFunc(h.Refuse, func(pattern string) bool { return matchesHost(pattern, hostport) })
}

// Stubbed returns the text that answers a request to a host with its port, for a path such as "/v1/flags". Of several keys
// that match, the longest counts.
func (h *Hosts) Stubbed(hostport, path string) (text string, ok bool) {
	best := ""
	for key := range h.Stub {
		host, under, hasPath := strings.Cut(key, "/")
		if matchesHost(host, hostport) && (!hasPath || "/"+under == path) && len(key) > len(best) {
			best = key
		}
	}
	text, ok = h.Stub[best]
	return text, ok
}

// Stubs returns the keys of Stub for a host with its port, sorted. If there are some, some of its requests are answered.
func (h *Hosts) Stubs(hostport string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(h.Stub)) {
		if host, _, _ := strings.Cut(key, "/"); matchesHost(host, hostport) {
			keys = append(keys, key)
		}
	}
	return keys
}

// matchesHost reports whether a pattern describes a host with its port, or a host alone, as of a lookup of its name.
func matchesHost(pattern, hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		host, port = hostport, ""
	}
	if name, only, err := net.SplitHostPort(pattern); err == nil {
		if port != "" && only != port {
			return false
		}
		pattern = name
	}
	pattern = strings.ToLower(pattern)
	if below, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, below)
	}
	return host == pattern
}

// check reports patterns that no host can match; at is the path of the hosts.
func (h *Hosts) check(c *Checker, at string) {
	for i, pattern := range h.Refuse {
		if problem := hostProblem(pattern); problem != "" {
			c.Add(fmt.Sprintf("%s.refuse[%d]", at, i), "", "%q %s", pattern, problem)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(h.Stub)) {
		if _, rest, ok := strings.Cut(key, "://"); ok {
			c.Add(yamlsrc.Join(at+".stub", key), "", "%q: leave out the scheme; http and https are both answered: %s", key, rest)
			continue
		}
		host, _, hasPath := strings.Cut(key, "/")
		refused := slices.IndexFunc(h.Refuse, func(pattern string) bool { return strings.EqualFold(pattern, host) })
		switch problem := hostProblem(host); {
		case problem != "":
			c.Add(yamlsrc.Join(at+".stub", key), "", "%q %s", key, problem)
		case strings.HasPrefix(host, "*"):
			c.Add(yamlsrc.Join(at+".stub", key), "", "%q: name one host; only refuse takes patterns", key)
		case refused >= 0 && !hasPath:
			c.Add(fmt.Sprintf("%s.refuse[%d]", at, refused), "",
				"%q is refused and answered (stub); leave one of the two out, or name the paths that are answered", key)
		}
	}
}

func hostProblem(pattern string) string {
	name := pattern
	if host, _, err := net.SplitHostPort(pattern); err == nil {
		name = host
	}
	switch name = strings.TrimPrefix(name, "*."); {
	case strings.Contains(pattern, "://"), strings.ContainsAny(name, "/*? "), name == "":
		return `is not a host; write a name such as "telemetry.example.com", with a port if it matters, without https://`
	case name == "localhost", strings.HasPrefix(name, "127."):
		return "is this machine, whose servers are not refused"
	}
	return ""
}
