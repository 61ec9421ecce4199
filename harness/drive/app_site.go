package drive

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// site is the environment of the agent of one trial, with the names that recordings use
// for its places.
type site struct {
	app.Site
	log    *tail
	places places
}

// refusedHost ends a trial whose agent called another machine.
type refusedHost struct {
	host string
	// path is that of the request; empty if the agent did not use the proxy, or before TLS.
	path string
	// stubs are the keys of the scenario's stubs for the host.
	stubs []string
}

func (r *refusedHost) Error() string {
	answered := strings.Join(r.stubs, ", ")
	switch {
	case answered != "" && r.path != "":
		return fmt.Sprintf(
			"the agent called %s%s, which was refused: hosts.stub answers %s and no other path of this host; "+
				"name this path there, too, or the host under hosts.refuse, if the agent can go on without it",
			r.host, r.path, answered)
	case answered != "":
		return fmt.Sprintf(
			"the agent called %s past the proxy, and was refused: hosts.stub answers %s only to clients that use HTTP_PROXY and HTTPS_PROXY "+
				"(Node does from version 24 on); let the client use them, or name the host under hosts.refuse, if the agent can go on without it",
			r.host, answered)
	}
	return fmt.Sprintf(
		"the agent called %s, which was refused: a rehearsed agent calls its scripted backend and no other machine; "+
			"let it read the base URL from OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and turn off its other outbound calls, "+
			"or name them under hosts: in the scenario",
		r.host)
}

// newSite prepares the environment of the agent of one trial, which t cleans up. stop ends
// the trial.
func newSite(c *Conversation, t *Trial, realTime bool, stop context.CancelCauseFunc) (*site, error) {
	s := &site{log: &tail{Tail: child.Tail{Size: maxTail}}}
	s.Site = app.Site{Backend: inProcess, Clock: t.Clock, Perturbed: len(t.Perturb) > 0, Log: s.log}
	s.Emit = func(e event.Event) {
		e.Detail, e.Attrs = s.places.text(e.Detail), s.places.attrs(e.Attrs)
		t.collector.Emit(e)
	}
	t.emit = s.Emit
	onHost := func(host string) {
		if !c.Talk.Hosts.Refuses(host) {
			stop(&refusedHost{host: host, stubs: c.Talk.Hosts.Stubs(host)})
		}
	}
	network := c.isolate(t, s, onHost)
	if err := c.connect(t, s, network, realTime); err != nil {
		return nil, err
	}
	if err := s.makeFolders(t); err != nil {
		return nil, err
	}
	s.Env = app.Variables(s.Backend)
	if err := s.addServers(t); err != nil {
		return nil, err
	}
	if !c.Virtual {
		if err := s.startProxy(t, network, c.Talk.Hosts, stop); err != nil {
			return nil, err
		}
	}
	s.places = newPlaces(s.Site)
	return s, Furnish(s.Folder, c.Talk.Files, nil)
}

// isolate creates a network for the program from which it cannot reach other machines. It
// returns nil, for the machine's network, if the scenario asks for that or the machine
// cannot create one.
func (c *Conversation) isolate(t *Trial, s *site, onHost func(host string)) *trialNetwork {
	if !c.OwnNetwork {
		return nil
	}
	network, err := newTrialNetwork(onHost)
	if err != nil {
		return nil // only the proxy refuses requests then
	}
	t.Cleanup(network.Close)
	s.Within = network.Within
	return network
}

// startProxy starts the proxy that refuses or answers requests to other machines.
func (s *site) startProxy(t *Trial, network *trialNetwork, hosts scenarios.Hosts, stop context.CancelCauseFunc) (err error) {
	var on net.Listener // nil: the proxy opens its own
	if network != nil {
		if on, err = network.listen(); err != nil {
			return fmt.Errorf("listen in the agent's network: %w", err)
		}
	}
	proxy, err := listenProxy(on, hosts, func(host, path string) {
		stop(&refusedHost{host: host, path: path, stubs: hosts.Stubs(host)})
	})
	if err != nil {
		return err
	}
	t.Cleanup(proxy.Close)
	env, err := proxy.Env(s.Home)
	s.Env = append(s.Env, env...)
	return err
}

// connect makes the scripted backend reachable.
func (c *Conversation) connect(t *Trial, s *site, network *trialNetwork, realTime bool) error {
	if !realTime {
		s.Client = &http.Client{Transport: t.inProcessTransport()}
		return nil
	}
	url, release, err := t.Env.socket.attach(t.engine, t.servers)
	if err != nil {
		return err
	}
	t.Cleanup(release)
	s.Backend = strings.TrimSuffix(url, "/v1")
	if network != nil {
		on, err := network.listen()
		if err != nil {
			return fmt.Errorf("listen in the agent's network: %w", err)
		}
		t.Cleanup(on.Close)
		t.Env.socket.serve(on)
		s.Backend = strings.Replace(s.Backend, t.Env.socket.address, on.Addr().String(), 1)
	}
	if c.Virtual {
		s.Client = &http.Client{Transport: &t.Env.socket.client}
	}
	return nil
}

// makeFolders creates the agent's folders.
func (s *site) makeFolders(t *Trial) error {
	folder, err := os.MkdirTemp("", "rehearse-app-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	t.Cleanup(func() error { return removeAll(folder) })
	// Programs see the folder with symbolic links resolved.
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	s.Folder, s.Home = filepath.Join(folder, "work"), filepath.Join(folder, "home")
	for _, dir := range []string{s.Folder, s.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	return nil
}

// removeAll removes a folder, even if an agent made folders in it that cannot be entered.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(path string, entry os.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // it is about to be removed
		}
		return nil
	})
	return os.RemoveAll(folder)
}
