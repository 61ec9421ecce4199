package container

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cpuguy83/dockercfg"
	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// connect returns a client of a Docker daemon that answers: the one at DOCKER_HOST, and
// only that one, if the variable is set.
func connect(ctx context.Context) (*client.Client, error) {
	docker, err := ping(ctx)
	host := os.Getenv(client.EnvOverrideHost) //nolint:forbidigo // Docker's own variable, which the client reads, too
	if err != nil && host != "" {
		return nil, app.Errorf(app.Unusable, "Docker does not answer at DOCKER_HOST=%s: %w; start it, or correct or unset DOCKER_HOST", host, err)
	}
	if err == nil || host != "" {
		return docker, err
	}
	for _, socket := range userSockets() {
		if _, missing := os.Stat(socket); missing != nil {
			continue
		}
		if docker, err := ping(ctx, client.WithHost("unix://"+socket)); err == nil {
			return docker, nil
		}
	}
	return nil, err
}

// ping returns a client of a daemon if that answers.
func ping(ctx context.Context, opts ...client.Opt) (*client.Client, error) {
	docker, err := client.New(append([]client.Opt{client.FromEnv}, opts...)...)
	if err != nil {
		return nil, err
	}
	if _, err := docker.Ping(ctx, client.PingOptions{}); err != nil {
		_ = docker.Close()
		return nil, err
	}
	return docker, nil
}

// userSockets returns the sockets of rootless Docker and Docker Desktop.
func userSockets() []string {
	runtimeDir := cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/run/user/"+strconv.Itoa(os.Getuid())) //nolint:forbidigo // set by the system's login
	sockets := []string{filepath.Join(runtimeDir, "docker.sock")}
	if home, err := os.UserHomeDir(); err == nil {
		sockets = append(sockets, filepath.Join(home, ".docker/run/docker.sock"), filepath.Join(home, ".docker/desktop/docker.sock"))
	}
	return sockets
}

// publishedOn returns the host on which ports of containers are published, and the address
// to publish them on: loopback, unless the daemon is on another machine.
func publishedOn(docker *client.Client) (host string, on netip.Addr) {
	if u, err := url.Parse(docker.DaemonHost()); err == nil && u.Scheme == "tcp" && !loopback.Is(u.Hostname()) {
		return u.Hostname(), netip.IPv4Unspecified()
	}
	return "127.0.0.1", netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// pull fetches an image, with the credentials of "docker login" if there are any.
func pull(ctx context.Context, docker *client.Client, image string) error {
	host, _, ok := strings.Cut(image, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" {
		host = "docker.io"
	}
	auth, err := authconfig.Encode(credentials(dockercfg.ResolveRegistryHost(host)))
	if err != nil {
		return err
	}
	pulled, err := docker.ImagePull(ctx, image, client.ImagePullOptions{RegistryAuth: auth})
	if err != nil {
		return err
	}
	return pulled.Wait(ctx)
}

// credentials returns the credentials of "docker login" for a registry; empty without a
// login.
func credentials(host string) registry.AuthConfig {
	config, err := dockercfg.LoadDefaultConfig()
	if err != nil {
		return registry.AuthConfig{}
	}
	user, password, err := config.GetRegistryCredentials(host)
	switch {
	case err != nil:
		return registry.AuthConfig{}
	case user == "":
		return registry.AuthConfig{IdentityToken: password, ServerAddress: host}
	}
	return registry.AuthConfig{Username: user, Password: password, ServerAddress: host}
}

// allCredentials returns the credentials of "docker login" by registry.
func allCredentials() map[string]registry.AuthConfig {
	all := map[string]registry.AuthConfig{}
	config, err := dockercfg.LoadDefaultConfig()
	if err != nil {
		return all
	}
	hosts := slices.Collect(maps.Keys(config.AuthConfigs))
	for _, host := range slices.AppendSeq(hosts, maps.Keys(config.CredentialHelpers)) {
		all[host] = credentials(host)
	}
	return all
}

// build builds the image of a folder with a Dockerfile. The error quotes the end of the
// build's log.
func build(ctx context.Context, docker *client.Client, folder, name string) error {
	files, err := buildContext(folder)
	if err != nil {
		return err
	}
	defer files.Close()
	result, err := docker.ImageBuild(ctx, files, client.ImageBuildOptions{
		Tags: []string{name}, Labels: map[string]string{Label: name}, AuthConfigs: allCredentials(), Remove: true, ForceRemove: true,
	})
	if err != nil {
		return err
	}
	defer result.Body.Close()
	log := &child.Tail{}
	for lines := json.NewDecoder(result.Body); ; {
		var line struct{ Stream, Error string }
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.Error != "":
			return fmt.Errorf("%s%s", sanitize.Line(line.Error, maxLogQuote), endOf(log))
		}
		_, _ = io.WriteString(log, line.Stream)
	}
}
