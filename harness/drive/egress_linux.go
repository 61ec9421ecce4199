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

// trialNetwork is a network of a trial's own, from which nothing outside can be reached: a
// network namespace, see network_namespaces(7), with a loopback interface alone. It takes
// the rights of an administrator.
type trialNetwork struct {
	namespace int // a file descriptor
	names     []net.PacketConn
	packets   *os.File // that go to other machines; nil where they cannot be read
	serving   sync.WaitGroup
}

// newTrialNetwork makes a network and tells asked of each name of another machine that is
// looked up in it, and of each address of one that something is sent to (IPv4), such as
// "192.0.2.1:443". The error wraps errNoNetwork where that is not possible.
func newTrialNetwork(asked func(host string)) (*trialNetwork, error) {
	n := &trialNetwork{namespace: -1}
	err := n.open()
	if err == nil {
		conf, _ := os.ReadFile("/etc/resolv.conf") // without it nobody is asked for names
		err = n.Within(func() error {
			// Without the right to read packets, what they ask for is refused unseen.
			n.packets, _ = expose()
			return n.resolve(conf)
		})
	}
	if err != nil {
		_ = n.Close()
		return nil, fmt.Errorf("%w: %w", errNoNetwork, err)
	}
	for _, on := range n.names {
		n.serving.Go(func() { serveNames(on, func(name string) { asked(sanitize.Line(name, 255)) }) })
	}
	if n.packets != nil {
		ours := n.ours()
		n.serving.Go(func() { readStrays(n.packets, ours, asked) })
	}
	return n, nil
}

// open makes the namespace on this thread and leaves it again.
func (n *trialNetwork) open() error {
	return elsewhere(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		var err error
		if n.namespace, err = current(); err != nil {
			return err
		}
		return up()
	})
}

// Within calls do on a thread that is in the network: the sockets that it opens and the
// programs that it starts belong there.
func (n *trialNetwork) Within(do func() error) error {
	return elsewhere(func() error {
		if err := unix.Setns(n.namespace, unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter the network of the trial: %w", err)
		}
		return do()
	})
}

// listenProxy listens on a loopback port of the network.
func (n *trialNetwork) listen() (l net.Listener, err error) {
	err = n.Within(func() error {
		l, err = net.Listen("tcp", "127.0.0.1:0")
		return err
	})
	return l, err
}

// Close ends the network when nothing is left in it.
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
		go n.packets.Close() // it was only read; the kernel takes its time, some 20 ms
	}
	if n.namespace >= 0 {
		errs = append(errs, unix.Close(n.namespace))
	}
	return errors.Join(errs...)
}

// resolve listens where the machine's name servers would be.
func (n *trialNetwork) resolve(conf []byte) error {
	for i, addr := range resolvers(conf) {
		if !addr.IsLoopback() {
			if err := alias("lo:"+strconv.Itoa(i), addr.AsSlice()); err != nil {
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

// ours are the addresses at which name servers are played.
func (n *trialNetwork) ours() (all []netip.Addr) {
	for _, on := range n.names {
		if addr, ok := on.LocalAddr().(*net.UDPAddr); ok {
			all = append(all, addr.AddrPort().Addr().Unmap())
		}
	}
	return all
}

// elsewhere calls do on a thread of its own, which is in this network again afterwards;
// a thread that cannot come back is not used again.
func elsewhere(do func() error) error {
	runtime.LockOSThread()
	home, err := current()
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer unix.Close(home) //nolint:errcheck // it was only read
	err = do()
	if back := unix.Setns(home, unix.CLONE_NEWNET); back != nil {
		// Still locked to its thread, which goes with the goroutine.
		return errors.Join(err, fmt.Errorf("leave the network of the trial: %w", back))
	}
	runtime.UnlockOSThread()
	return err
}

// current is the network that this thread is in.
func current() (namespace int, err error) {
	return unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
}

// up switches the loopback interface on; see netdevice(7).
func up() error {
	return request(func(socket int) error {
		ifr, err := unix.NewIfreq("lo")
		if err != nil {
			return err
		}
		ifr.SetUint16(unix.IFF_UP)
		return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, ifr)
	})
}

// alias gives the loopback interface a further address, under a name such as lo:1.
func alias(name string, addr []byte) error {
	return request(func(socket int) error {
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

// request makes a request of the interfaces.
func request(do func(socket int) error) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket) //nolint:errcheck // nothing was written
	return do(socket)
}
