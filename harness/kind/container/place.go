package container

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// place is where an application is that lives in a container: the container, its
// network, and what passes on its calls to this machine.
type place struct {
	cfg    Config
	site   app.Site
	docker *testcontainers.DockerProvider
	name   string // of the container, its image if it was built, and its network

	network network
	closing sync.Once
	closed  error

	mu        sync.Mutex
	container *testcontainers.DockerContainer // nil until it is created
	gone      chan struct{}                   // closed once it has ended
	status    int64                           // its exit status, once gone is closed
	killed    bool                            // from here
}

func newPlace(cfg Config, site app.Site, docker *testcontainers.DockerProvider) *place {
	return &place{cfg: cfg, site: site, docker: docker, name: "rehearse-" + strings.ToLower(rand.Text()[:16])}
}

// Start implements http.Place.
func (p *place) Start(ctx context.Context, ready http.Ready) (string, error) {
	if p.container == nil {
		if err := p.create(ctx); err != nil {
			return "", err
		}
	}
	if err := p.container.Start(ctx); err != nil {
		return "", app.Errorf(app.Unusable, "the container does not start: %w", err)
	}
	gone := p.watch(context.WithoutCancel(ctx))
	address, err := p.network.address(ctx, p.container, p.cfg.Port)
	if err != nil {
		if p.ended(ctx) { // and so it has no address
			select {
			case <-gone:
				return "", http.ErrGone
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
		return "", app.Errorf(app.Unusable, "the container cannot be reached: %w", err)
	}
	base := "http://" + address
	return base, ready(ctx, base, gone)
}

// ended asks Docker whether the container that was started has ended, which Docker knows
// before watch is told of it.
func (p *place) ended(ctx context.Context) bool {
	info, err := p.container.Inspect(ctx)
	return err == nil && !info.State.Running
}

// create makes the container without starting it.
func (p *place) create(ctx context.Context) error {
	if err := p.network.open(ctx, p); err != nil {
		return app.Errorf(app.Unusable, "make a network for the container: %w", err)
	}
	env, err := p.network.environ(append(p.site.Env, p.cfg.Env...))
	if err != nil {
		return app.Errorf(app.Unusable, "make the scripted backend reachable from the container: %w", err)
	}
	env["PORT"] = strconv.Itoa(p.cfg.Port)
	files, err := workspace(p.site.Folder)
	if err != nil {
		return app.Errorf(app.Unusable, "read the workspace: %w", err)
	}
	options := append(p.network.options(p.cfg.Port),
		testcontainers.WithLogger(log.NewNoopLogger()),
		testcontainers.WithName(p.name),
		testcontainers.WithLabels(map[string]string{Label: p.name}),
		testcontainers.WithEnv(env),
		testcontainers.WithFiles(files...),
		testcontainers.WithHostConfigModifier(bound),
		testcontainers.WithNoStart(),
	)
	if len(p.cfg.Run) > 0 {
		options = append(options, testcontainers.WithCmd(p.cfg.Run...))
	}
	built := &child.Tail{}
	if p.cfg.Build != "" {
		options = append(options, testcontainers.WithDockerfile(testcontainers.FromDockerfile{
			Context: p.cfg.Build, Repo: p.name, Tag: "latest", BuildLogWriter: built,
		}))
	}
	c, err := testcontainers.Run(ctx, p.cfg.Image, options...)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.cfg.Build != "":
		return app.Errorf(app.Unusable, "the container of %s cannot be made: %w%s", p.cfg.Build, err, lastOf("; the end of its log: ", built.String()))
	default:
		return app.Errorf(app.Unusable, "the container of the image %s cannot be made: %w", p.cfg.Image, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.container = c
	return nil
}

// lastOf is the end of a log for an error, behind words that introduce it.
func lastOf(words, text string) string {
	if text = sanitize.Text(text, maxWords); text == "" {
		return ""
	}
	return words + text
}

// maxWords is how much of a log an error quotes, in characters.
const maxWords = 2000

// watch notices the end of the container that was started.
func (p *place) watch(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	p.mu.Lock()
	p.gone, p.status, p.killed = gone, 0, false
	p.mu.Unlock()
	wait := p.docker.Client().ContainerWait(ctx, p.name, client.ContainerWaitOptions{})
	go func() {
		defer close(gone)
		select {
		case end := <-wait.Result:
			p.mu.Lock()
			p.status = end.StatusCode
			p.mu.Unlock()
		case <-wait.Error: //nolint:errcheck // Docker is gone, and so is what it ran for us
		}
	}()
	return gone
}

// Gone implements http.Place.
func (p *place) Gone() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// Lag implements http.Place: Docker takes its time.
func (p *place) Lag() time.Duration { return 3 * time.Second }

// Ended implements http.Place.
func (p *place) Ended() string {
	p.mu.Lock()
	status, killed := p.status, p.killed
	p.mu.Unlock()
	if killed {
		return "it was killed from here"
	}
	ctx, cancel := p.site.Clock.WithTimeout(context.Background(), lastWordsLimit)
	defer cancel()
	said := &child.Tail{}
	p.logs(ctx, said)
	return fmt.Sprintf("the container ended with exit status %d%s", status, lastOf("; the end of its log: ", said.String()))
}

// lastWordsLimit is how long a look into the log may take.
const lastWordsLimit = 5 * time.Second

// logs writes the end of what the container wrote, in all its lives.
func (p *place) logs(ctx context.Context, to io.Writer) {
	r, err := p.docker.Client().ContainerLogs(ctx, p.name, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "500"})
	if err != nil {
		return // it has no log, or is gone
	}
	defer r.Close()
	_, _ = stdcopy.StdCopy(to, to, r)
}

// Kill implements http.Place.
func (p *place) Kill(ctx context.Context) error {
	p.mu.Lock()
	gone := p.gone
	p.killed = true
	p.mu.Unlock()
	if gone == nil {
		return nil
	}
	_, err := p.docker.Client().ContainerKill(ctx, p.name, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsConflict(err) && !errdefs.IsNotFound(err) { // it has ended already
		return fmt.Errorf("kill the container: %w", err)
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the container is not gone yet: %w", context.Cause(ctx))
	}
}

// Close implements http.Place.
func (p *place) Close(ctx context.Context) error {
	p.closing.Do(func() { p.closed = p.remove(ctx) })
	return p.closed
}

// remove ends the container, reads what it left in its workspace and removes everything that was made for it, whether or
// not it came to be.
func (p *place) remove(ctx context.Context) error {
	docker := p.docker.Client()
	if p.container != nil {
		grace := int(stopGrace / time.Second)
		_, _ = docker.ContainerStop(ctx, p.name, client.ContainerStopOptions{Timeout: &grace})
		if p.site.Log != nil {
			p.logs(ctx, p.site.Log)
		}
	}
	var errs []error
	if p.container != nil {
		if err := p.collect(ctx); err != nil {
			errs = append(errs, fmt.Errorf("read the workspace of the container: %w", err))
		}
	}
	_, err := docker.ContainerRemove(ctx, p.name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	errs = append(errs, unlessAbsent("the container", err))
	if p.cfg.Build != "" {
		_, err := docker.ImageRemove(ctx, p.name+":latest", client.ImageRemoveOptions{PruneChildren: true})
		errs = append(errs, unlessAbsent("its image", err))
	}
	errs = append(errs, p.network.close(ctx), p.docker.Close())
	return errors.Join(errs...)
}

// stopGrace is how long an application may take to end in order.
const stopGrace = time.Second

func unlessAbsent(what string, err error) error {
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("remove %s: %w", what, err)
}
