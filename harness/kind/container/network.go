package container

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"
)

// network is a container's own, and how it reaches this machine.
type network struct {
	own    *testcontainers.DockerNetwork
	inner  bool   // it has no route to the outside
	host   string // this machine, as the container calls it
	bind   string // where this machine listens for the container
	from   func(netip.Addr) bool
	relays []*relay
}

// desktop is what the container calls this machine where Docker runs elsewhere.
const desktop = "host.docker.internal"

// open makes the network. Where it can be reached from here, which shows in that its
// gateway is an address of this machine, it has no route to the outside.
func (n *network) open(ctx context.Context, p *place) (err error) {
	if !p.cfg.Routed {
		if err := n.make(ctx, p, true); err != nil || n.inner {
			return err
		}
		if err := n.own.Remove(ctx); err != nil {
			return err
		}
	}
	if p.site.Emit != nil {
		p.site.Emit("egress", "the container has a route to the outside: what it calls there without minding HTTP_PROXY is not refused", nil)
	}
	return n.make(ctx, p, false)
}

// make makes a network and looks where this machine is in it.
func (n *network) make(ctx context.Context, p *place, inner bool) (err error) {
	// It is quick, and one that was made for nobody would be left behind.
	kind := []tcnetwork.NetworkCustomizer{tcnetwork.WithLabels(map[string]string{Label: p.name})}
	if inner {
		kind = append(kind, tcnetwork.WithInternal())
	}
	if n.own, err = tcnetwork.New(context.WithoutCancel(ctx), kind...); err != nil {
		return err
	}
	made, err := p.docker.Client().NetworkInspect(ctx, n.own.ID, client.NetworkInspectOptions{})
	if err != nil {
		return err
	}
	var subnets []netip.Prefix
	for _, c := range made.Network.IPAM.Config {
		subnets = append(subnets, c.Subnet)
		if gateway := c.Gateway; gateway.Is4() && ours(gateway.String()) {
			n.host, n.bind, n.inner = gateway.String(), gateway.String(), inner
		}
	}
	n.from = inside(subnets)
	if n.host == "" {
		n.host, n.bind = desktop, "127.0.0.1"
		n.from = func(a netip.Addr) bool { return a.IsLoopback() }
	}
	return nil
}

// ours reports whether an address is one of this machine.
func ours(address string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// inside reports whether an address belongs to one of the networks.
func inside(networks []netip.Prefix) func(netip.Addr) bool {
	return func(a netip.Addr) bool {
		for _, n := range networks {
			if n.Contains(a) {
				return true
			}
		}
		return false
	}
}

// loopbackAddress finds the addresses of this machine in a variable.
var loopbackAddress = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// environ are the variables with addresses that hold in the container, each of which is
// passed on to the one on this machine.
func (n *network) environ(pairs []string) (map[string]string, error) {
	env, known := map[string]string{}, map[string]string{}
	var failed error
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		value = loopbackAddress.ReplaceAllStringFunc(value, func(address string) string {
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

// options put a container into the network.
func (n *network) options(port int) []testcontainers.ContainerCustomizer {
	all := []testcontainers.ContainerCustomizer{tcnetwork.WithNetwork(nil, n.own)}
	if n.inner {
		return all
	}
	all = append(all, testcontainers.WithExposedPorts(strconv.Itoa(port)+"/tcp"))
	if n.host == desktop {
		all = append(all, testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.ExtraHosts = append(c.ExtraHosts, desktop+":host-gateway")
		}))
	}
	return all
}

// address is where the application is reached from here.
func (n *network) address(ctx context.Context, c *testcontainers.DockerContainer, port int) (string, error) {
	if !n.inner {
		return c.PortEndpoint(ctx, strconv.Itoa(port)+"/tcp", "")
	}
	info, err := c.Inspect(ctx)
	if err != nil {
		return "", err
	}
	for _, end := range info.NetworkSettings.Networks {
		if end.IPAddress.IsValid() {
			return net.JoinHostPort(end.IPAddress.String(), strconv.Itoa(port)), nil
		}
	}
	return "", errors.New("it has no address in its network")
}

// close removes the network; the container is gone.
func (n *network) close(ctx context.Context) error {
	var errs []error
	for _, r := range n.relays {
		errs = append(errs, r.Close())
	}
	if n.own != nil {
		errs = append(errs, unlessAbsent("its network", n.own.Remove(ctx)))
	}
	return errors.Join(errs...)
}

// The bounds of a container.
const (
	maxMemory = 4 << 30 // bytes, swap included
	maxPIDs   = 1024
	maxLog    = "8m" // of which the end is kept
)

// bound keeps a container from taking the whole machine.
func bound(c *container.HostConfig) {
	pids := int64(maxPIDs)
	c.Memory, c.MemorySwap, c.PidsLimit = maxMemory, maxMemory, &pids
	c.LogConfig = container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": maxLog, "max-file": "1"}}
	c.SecurityOpt = append(c.SecurityOpt, "no-new-privileges")
}
