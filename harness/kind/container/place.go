package container

import (
	"cmp"
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
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/kind/command"
	"github.com/rehearse-dev/rehearse/harness/kind/http"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/failword"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// place is the container of an application with its network.
type place struct {
	opts   Options
	site   app.Site
	docker *client.Client
	name   string // of the container, its image if it was built, and its network

	network network
	closing sync.Once
	closed  error
	created bool

	mu     sync.Mutex
	gone   chan struct{} // closed once the container has ended
	status int64         // its exit status, once gone is closed
	killed bool          // by Kill
}

func newPlace(o Options, site app.Site, docker *client.Client) *place {
	return &place{opts: o, site: site, docker: docker, name: "rehearse-" + strings.ToLower(rand.Text()[:16])}
}

// Start implements http.Place.
func (p *place) Start(ctx context.Context, ready http.Ready) (string, error) {
	if !p.created {
		if err := p.create(ctx); err != nil {
			return "", err
		}
	}
	if _, err := p.docker.ContainerStart(ctx, p.name, client.ContainerStartOptions{}); err != nil {
		return "", app.Errorf(app.Unusable, "the container does not start: %w", err)
	}
	gone := p.watch(context.WithoutCancel(ctx))
	address, err := p.address(ctx)
	if errors.Is(err, http.ErrGone) {
		select {
		case <-gone:
			return "", err
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	if err != nil {
		return "", app.Errorf(app.Unusable, "the container cannot be reached: %w", err)
	}
	base := "http://" + address
	return base, ready(ctx, base, gone)
}

// address returns the address of the application. Docker Desktop publishes a port a moment
// after the start. The error is http.ErrGone if the container has ended: it has no address
// then.
func (p *place) address(ctx context.Context) (string, error) {
	const attempts, pause = 20, 50 * time.Millisecond
	for n := 1; ; n++ {
		info, err := p.docker.ContainerInspect(ctx, p.name, client.ContainerInspectOptions{})
		if err != nil {
			return "", err
		}
		address, err := p.network.address(p.docker, info.Container, p.opts.Port)
		switch {
		case err != nil && !info.Container.State.Running:
			return "", http.ErrGone
		case err == nil || n == attempts:
			return address, err
		}
		if err := p.site.Clock.Sleep(ctx, pause); err != nil {
			return "", err
		}
	}
}

// create creates the container without starting it.
func (p *place) create(ctx context.Context) error {
	if err := p.network.open(ctx, p); err != nil {
		return app.Errorf(app.Unusable, "make a network for the container: %w", err)
	}
	env, err := p.network.environ(append(p.site.Env, p.opts.Environ()...))
	if err != nil {
		return app.Errorf(app.Unusable, "make the scripted backend reachable from the container: %w", err)
	}
	env["PORT"] = strconv.Itoa(p.opts.Port)
	launch := command.Launch{Env: env}
	o := client.ContainerCreateOptions{
		Name: p.name,
		Config: &container.Config{
			Image: cmp.Or(p.opts.Image, p.name), Cmd: p.opts.Run, Env: launch.Environ(),
			Labels: map[string]string{Label: p.name},
		},
		HostConfig: limits(),
	}
	p.network.join(p.docker, &o, p.opts.Port)
	err = p.createFrom(ctx, o)
	switch {
	case err == nil:
		p.created = true
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case p.opts.Build != "":
		return app.Errorf(app.Unusable, "the container of %s cannot be made: %w", p.opts.Build, err)
	default:
		return app.Errorf(app.Unusable, "the container of the image %s cannot be made: %w", p.opts.Image, err)
	}
}

// createFrom creates the container and copies the workspace into it. The image is built, or
// pulled if it is missing.
func (p *place) createFrom(ctx context.Context, o client.ContainerCreateOptions) error {
	if p.opts.Build != "" {
		if err := build(ctx, p.docker, p.opts.Build, p.name); err != nil {
			return err
		}
	}
	_, err := p.docker.ContainerCreate(ctx, o)
	if errdefs.IsNotFound(err) && p.opts.Build == "" {
		if err := pull(ctx, p.docker, p.opts.Image); err != nil {
			return err
		}
		_, err = p.docker.ContainerCreate(ctx, o)
	}
	if err != nil || p.site.Folder == "" {
		return err
	}
	files := packWorkspace(p.site.Folder)
	defer files.Close()
	if _, err := p.docker.CopyToContainer(ctx, p.name, client.CopyToContainerOptions{DestinationPath: "/", Content: files}); err != nil {
		return fmt.Errorf("copy the workspace: %w", err)
	}
	return nil
}

// endOf returns the end of a log for an error message, with an introduction; empty for an
// empty log.
func endOf(log *child.Tail) string {
	text := sanitize.Text(log.String(), maxLogQuote)
	if text == "" {
		return ""
	}
	return "; the end of its log: " + text
}

// maxLogQuote limits how much of a log an error quotes, in characters.
const maxLogQuote = 2000

// watch waits for the end of the started container in the background.
func (p *place) watch(ctx context.Context) <-chan struct{} {
	gone := make(chan struct{})
	p.mu.Lock()
	p.gone, p.status, p.killed = gone, 0, false
	p.mu.Unlock()
	wait := p.docker.ContainerWait(ctx, p.name, client.ContainerWaitOptions{})
	go func() {
		defer close(gone)
		select {
		case end := <-wait.Result:
			p.mu.Lock()
			p.status = end.StatusCode
			p.mu.Unlock()
		case <-wait.Error: //nolint:errcheck // Docker is gone, and its containers with it
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

// Lag implements http.Place. Docker reports the end of a container late.
func (p *place) Lag() time.Duration { return 3 * time.Second }

// Ended implements http.Place.
func (p *place) Ended() (how string, silent bool) {
	p.mu.Lock()
	status, killed := p.status, p.killed
	p.mu.Unlock()
	if killed {
		return "it was killed from here", false
	}
	ctx, cancel := p.site.Clock.WithTimeout(context.Background(), logTimeout)
	defer cancel()
	var log, stderr child.Tail
	p.logs(ctx, &log, io.MultiWriter(&log, &stderr))
	silent = stderr.String() == "" && !failword.In(log.String())
	return fmt.Sprintf("the container ended with exit status %d%s", status, endOf(&log)), silent
}

// logTimeout limits how long reading the log may take.
const logTimeout = 5 * time.Second

// logs writes the end of the container's output and standard error, which include earlier starts.
func (p *place) logs(ctx context.Context, output, stderr io.Writer) {
	r, err := p.docker.ContainerLogs(ctx, p.name, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "500"})
	if err != nil {
		return // it has no log, or is gone
	}
	defer r.Close()
	_, _ = stdcopy.StdCopy(output, stderr, r)
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
	_, err := p.docker.ContainerKill(ctx, p.name, client.ContainerKillOptions{Signal: "KILL"})
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

// remove stops the container, reads its workspace and removes everything that was created
// for it.
func (p *place) remove(ctx context.Context) error {
	var errs []error
	if p.created {
		grace := int(stopGrace / time.Second)
		_, _ = p.docker.ContainerStop(ctx, p.name, client.ContainerStopOptions{Timeout: &grace})
		if p.site.Log != nil {
			p.logs(ctx, p.site.Log, p.site.Log)
		}
		if err := p.collect(ctx); err != nil {
			errs = append(errs, fmt.Errorf("read the workspace of the container: %w", err))
		}
	}
	_, err := p.docker.ContainerRemove(ctx, p.name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	errs = append(errs, unlessAbsent("the container", err))
	if p.opts.Build != "" {
		_, err := p.docker.ImageRemove(ctx, p.name+":latest", client.ImageRemoveOptions{PruneChildren: true})
		errs = append(errs, unlessAbsent("its image", err))
	}
	errs = append(errs, p.network.close(ctx, p.docker), p.docker.Close())
	return errors.Join(errs...)
}

// stopGrace limits how long an application may take to end after SIGTERM.
const stopGrace = time.Second

func unlessAbsent(what string, err error) error {
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("remove %s: %w", what, err)
}
