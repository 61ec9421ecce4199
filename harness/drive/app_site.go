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
	"github.com/rehearse-dev/rehearse/mocks"
)

// site is what the agent of one trial finds, and what the recording calls it.
type site struct {
	app.Site
	log    *tail
	places places
}

// reached is why a trial ended whose agent asked for another machine.
type reached struct{ host string }

func (r *reached) Error() string {
	return fmt.Sprintf(
		"the agent called %s, which was refused: a rehearsed agent calls its scripted backend and no other machine; "+
			"let it take the backend's address from OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and switch off what else it calls",
		r.host)
}

// newSite prepares what the agent of one trial finds; t takes it down. stop ends the
// trial.
func newSite(c *Conversation, t *Trial, realTime bool, stop context.CancelCauseFunc) (*site, error) {
	s := &site{log: &tail{Tail: child.Tail{Size: maxTail}}}
	s.Site = app.Site{Backend: "http://127.0.0.1", Clock: t.Clock, Log: s.log}
	s.Emit = func(e event.Event) {
		e.Detail, e.Attrs = s.places.text(e.Detail), s.places.attrs(e.Attrs)
		t.collector.Emit(e)
	}
	tell := func(host string) { stop(&reached{host}) }
	network := c.isolate(t, s, tell)
	if err := c.connect(t, s, network, realTime); err != nil {
		return nil, err
	}
	if err := s.settle(t); err != nil {
		return nil, err
	}
	s.Env = app.Variables(s.Backend)
	if !c.Virtual {
		if err := s.refuse(t, network, tell); err != nil {
			return nil, err
		}
	}
	s.places = newPlaces(s.Site)
	return s, Furnish(s.Folder, c.Talk.Files, nil)
}

// isolate gives a program a network of its own, from which nothing outside is reached,
// where the machine can and the scenario does not say otherwise; nil is the machine's.
func (c *Conversation) isolate(t *Trial, s *site, tell func(host string)) *trialNetwork {
	if !c.OwnNetwork {
		return nil
	}
	network, err := newTrialNetwork(tell)
	if err != nil {
		return nil // the proxy alone refuses what asks it
	}
	t.Cleanup(network.Close)
	s.Within = network.Within
	return network
}

// refuse starts the proxy that refuses other machines.
func (s *site) refuse(t *Trial, network *trialNetwork, tell func(host string)) (err error) {
	var on net.Listener // the proxy's own
	if network != nil {
		if on, err = network.listen(); err != nil {
			return fmt.Errorf("listen in the agent's network: %w", err)
		}
	}
	proxy, err := listenProxy(on, tell)
	if err != nil {
		return err
	}
	t.Cleanup(proxy.Close)
	s.Env = append(s.Env, proxy.Env()...)
	return nil
}

// connect makes the scripted backend reachable.
func (c *Conversation) connect(t *Trial, s *site, network *trialNetwork, realTime bool) error {
	if !realTime {
		s.Client = &http.Client{Transport: mocks.NewTransport(t.engine)}
		return nil
	}
	url, release, err := t.Env.socket.attach(t.engine)
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

// settle makes the agent's folders.
func (s *site) settle(t *Trial) error {
	folder, err := os.MkdirTemp("", "rehearse-app-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	t.Cleanup(func() error { return removeAll(folder) })
	// Programs see the folder without the links on the way to it.
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
