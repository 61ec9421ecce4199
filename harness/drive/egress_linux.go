package drive

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"golang.org/x/sys/unix"
)

// trialNetwork is a network of one trial from which no other machine can be reached: a
// network namespace with only a loopback interface; see network_namespaces(7). Creating it
// takes the rights of an administrator.
type trialNetwork struct {
	namespace int // a file descriptor
	names     []net.PacketConn
	packets   *os.File // to other machines; nil if they cannot be read
	serving   sync.WaitGroup
}

// newTrialNetwork creates a network. It calls onHost with each name of another machine that
// is looked up in it, and with each IPv4 address of another machine that receives a packet,
// such as "192.0.2.1:443". The error wraps errNoNetwork if that is not possible.
func newTrialNetwork(onHost func(host string)) (*trialNetwork, error) {
	n := &trialNetwork{namespace: -1}
	err := n.open()
	if err == nil {
		conf, _ := os.ReadFile("/etc/resolv.conf") // without it no name servers are simulated
		err = n.Within(func() error {
			// Without the right to read packets, they are dropped unreported.
			n.packets, _ = captureStrays()
			return n.resolve(conf)
		})
	}
	if err != nil {
		_ = n.Close()
		return nil, fmt.Errorf("%w: %w", errNoNetwork, err)
	}
	for _, on := range n.names {
		n.serving.Go(func() { serveNames(on, func(name string) { onHost(sanitize.Line(name, 255)) }) })
	}
	if n.packets != nil {
		ours := n.nameServers()
		n.serving.Go(func() { readStrays(n.packets, ours, onHost) })
	}
	return n, nil
}

// open creates the namespace.
func (n *trialNetwork) open() error {
	return onOwnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		var err error
		if n.namespace, err = currentNetwork(); err != nil {
			return err
		}
		return enableLoopback()
	})
}

// Within calls do on a thread in the network: the sockets that it opens and the programs
// that it starts belong to the network.
func (n *trialNetwork) Within(do func() error) error {
	return onOwnThread(func() error {
		if err := unix.Setns(n.namespace, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network of the trial: %w", err)
		}
		return do()
	})
}

// listen listens on a loopback port of the network.
func (n *trialNetwork) listen() (l net.Listener, err error) {
	err = n.Within(func() error {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	return l, err
}

// Close closes the network, which exists until the last program in it has ended.
func (n *trialNetwork) Close() error {
	var errs []error
	for _, on := range n.names {
		errs = append(errs, on.Close())
	}
	if n.packets != nil {
		errs = append(errs, n.packets.SetReadDeadline(time.Unix(1, 0)))
	}
	n.serving.Wait()
	if n.packets != nil {
		go n.packets.Close() // nothing was written; this takes the kernel some 20 ms
	}
	if n.namespace >= 0 {
		errs = append(errs, unix.Close(n.namespace))
	}
	return errors.Join(errs...)
}

// resolve listens at the addresses of the machine's name servers.
func (n *trialNetwork) resolve(conf []byte) error {
	for i, addr := range resolvers(conf) {
		if !addr.IsLoopback() {
			if err := addLoopbackAddress("lo:"+strconv.Itoa(i), addr.AsSlice()); err != nil {
				return fmt.Errorf("take the place of the name server %s: %w", addr, err)
			}
		}
		on, err := net.ListenPacket("udp4", net.JoinHostPort(addr.String(), "53"))
		if err != nil {
			return fmt.Errorf("take the place of the name server %s: %w", addr, err)
		}
		n.names = append(n.names, on)
	}
	return nil
}

// nameServers returns the addresses of the simulated name servers.
func (n *trialNetwork) nameServers() (all []netip.Addr) {
	for _, on := range n.names {
		if addr, ok := on.LocalAddr().(*net.UDPAddr); ok {
			all = append(all, addr.AddrPort().Addr().Unmap())
		}
	}
	return all
}

// onOwnThread calls do on a thread of its own and returns the thread to this network
// afterwards; a thread for which that fails is not used again.
func onOwnThread(do func() error) error {
	runtime.LockOSThread()
	home, err := currentNetwork()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer unix.Close(home) //nolint:errcheck // nothing was written
	err = do()
	if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
		// The goroutine stays locked to its thread, which ends with it.
		return errors.Join(err, fmt.Errorf("leave the network of the trial: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// currentNetwork opens the network namespace of this thread.
func currentNetwork() (namespace int, err error) {
	return unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// enableLoopback enables the loopback interface; see netdevice(7).
func enableLoopback() error {
	return requestInterface(func(socket int) error {
		ifr, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		ifr.SetUint16(unix.IFF_UP)
		return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, ifr)
	})
}

// addLoopbackAddress adds an address to the loopback interface under a name such as lo:1.
func addLoopbackAddress(name string, addr []byte) error {
	return requestInterface(func(socket int) error {
		ifr, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := ifr.SetInet4Addr(addr); err != nil {
			return err
		}
		return unix.IoctlIfreq(socket, unix.SIOCSIFADDR, ifr)
	})
}

// requestInterface calls do with a socket for requests to interfaces.
func requestInterface(do func(socket int) error) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	return do(socket)
}
