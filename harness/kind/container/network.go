package container

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	dockernetwork "github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// network is a container's own network.
type network struct {
	id       string // empty until it is created
	internal bool   // it has no route to the outside
	host     string // this machine's name in the container
	bind     string // the address on which this machine listens for the container
	from     func(netip.Addr) bool
	relays   []*relay
}

// desktop is this machine's name in a container if Docker runs on another machine.
const desktop = "host.docker.internal"

// open creates the network. It has no route to the outside if its gateway is an address of
// this machine, which can be reached then.
func (n *network) open(ctx context.Context, p *place) (err error) {
	if !p.opts.Routed {
		if err := n.create(ctx, p, true); err != nil || n.internal {
			return err
		}
		if _, err := p.docker.NetworkRemove(ctx, n.id, client.NetworkRemoveOptions{}); err != nil {
			return err
		}
	}
	if p.site.Emit != nil {
		p.site.Emit(event.Event{
			Kind: event.State, Name: "egress",
			Detail: "the container has a route to the outside: what it calls there without minding HTTP_PROXY is not refused",
		})
	}
	return n.create(ctx, p, false)
}

// create creates a network and finds this machine in it.
func (n *network) create(ctx context.Context, p *place, internal bool) error {
	// If ctx ended in between, the id of the network to remove would be unknown.
	created, err := p.docker.NetworkCreate(context.WithoutCancel(ctx), p.name, client.NetworkCreateOptions{
		Internal: internal, Labels: map[string]string{Label: p.name},
	})
	if err != nil {
		return err
	}
	n.id = created.ID
	info, err := p.docker.NetworkInspect(ctx, n.id, client.NetworkInspectOptions{})
	if err != nil {
		return err
	}
	var subnets []netip.Prefix
	for _, c := range info.Network.IPAM.Config {
		subnets = append(subnets, c.Subnet)
		if gateway := c.Gateway; gateway.Is4() && isLocal(gateway.String()) {
			n.host, n.bind, n.internal = gateway.String(), gateway.String(), internal
		}
	}
	n.from = containedIn(subnets)
	if n.host == "" {
		n.host, n.bind = desktop, "127.0.0.1"
		n.from = func(a netip.Addr) bool { return a.IsLoopback() }
	}
	return nil
}

// isLocal reports whether an address belongs to this machine.
func isLocal(address string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// containedIn returns a function that reports whether an address belongs to one of the
// networks.
func containedIn(networks []netip.Prefix) func(netip.Addr) bool {
	return func(a netip.Addr) bool {
		for _, n := range networks {
			if n.Contains(a) {
				return true
			}
		}
		return false
	}
}

// loopbackAddress matches the addresses of this machine in a variable.
var loopbackAddress = lazyregexp.New(`127\.0\.0\.1:[0-9]+`)

// environ returns the variables for the container: loopback addresses in them are replaced
// by those of relays, which forward to them.
func (n *network) environ(pairs []string) (map[string]string, error) {
	env, known := map[string]string{}, map[string]string{}
	var failed error
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		value = loopbackAddress().ReplaceAllStringFunc(value, func(address string) string {
			if known[address] == "" {
				r, err := listen(n.bind, address, n.from)
				if err != nil {
					failed = err
					return address
				}
				n.relays = append(n.relays, r)
				known[address] = net.JoinHostPort(n.host, r.port())
			}
			return known[address]
		})
		if strings.EqualFold(name, "NO_PROXY") {
			value += "," + n.host
		}
		env[name] = value
	}
	return env, failed
}

// join puts a container that listens on a port into the network.
func (n *network) join(docker *client.Client, o *client.ContainerCreateOptions, port int) {
	o.HostConfig.NetworkMode = container.NetworkMode(n.id)
	if n.internal {
		return
	}
	_, on := publishedOn(docker)
	inner := portOf(port)
	o.Config.ExposedPorts = dockernetwork.PortSet{inner: {}}
	o.HostConfig.PortBindings = dockernetwork.PortMap{inner: {{HostIP: on}}}
	if n.host == desktop {
		o.HostConfig.ExtraHosts = []string{desktop + ":host-gateway"}
	}
}

// portOf returns a TCP port of a container.
func portOf(port int) dockernetwork.Port {
	return dockernetwork.MustParsePort(strconv.Itoa(port) + "/tcp")
}

// address returns the address at which this machine reaches the application in a container.
func (n *network) address(docker *client.Client, c container.InspectResponse, port int) (string, error) {
	if !n.internal {
		host, _ := publishedOn(docker)
		for _, binding := range c.NetworkSettings.Ports[portOf(port)] {
			return net.JoinHostPort(host, binding.HostPort), nil
		}
		return "", errors.New("its port is not published")
	}
	for _, end := range c.NetworkSettings.Networks {
		if end.IPAddress.IsValid() {
			return net.JoinHostPort(end.IPAddress.String(), strconv.Itoa(port)), nil
		}
	}
	return "", errors.New("it has no address in its network")
}

// close removes the network, after the container.
func (n *network) close(ctx context.Context, docker *client.Client) error {
	var errs []error
	for _, r := range n.relays {
		errs = append(errs, r.Close())
	}
	if n.id != "" {
		_, err := docker.NetworkRemove(ctx, n.id, client.NetworkRemoveOptions{})
		errs = append(errs, unlessAbsent("its network", err))
	}
	return errors.Join(errs...)
}

// The limits of a container.
const (
	maxMemory = 4 << 30 // bytes, swap included
	maxPIDs   = 1024
	maxLog    = "8m" // of which the end is kept
)

// limits returns a configuration that limits the resources of a container.
func limits() *container.HostConfig {
	pids := int64(maxPIDs)
	return &container.HostConfig{
		Resources:   container.Resources{Memory: maxMemory, MemorySwap: maxMemory, PidsLimit: &pids},
		LogConfig:   container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": maxLog, "max-file": "1"}},
		SecurityOpt: []string{"no-new-privileges"},
	}
}
