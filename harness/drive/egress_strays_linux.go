package drive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// captureStrays returns a source of the packets to other machines, which have no route: it
// routes them to the loopback interface, which drops them, and reads them there. It must be
// called within the network.
func captureStrays() (packets *os.File, err error) {
	if err := routeToLoopback(); err != nil {
		return nil, err
	}
	// The protocol is in network order; see packet(7).
	protocol := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_IP))
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, int(protocol))
	if err != nil {
		return nil, fmt.Errorf("open a socket for packets: %w", err)
	}
	packets = os.NewFile(uintptr(socket), "packets")
	if err := skipLoopback(socket); err != nil {
		return nil, errors.Join(err, packets.Close())
	}
	return packets, nil
}

// skipLoopback installs a program of the classic packet filter that discards packets to
// 127.0.0.0/8, which are all packets to the backend and the proxy.
func skipLoopback(socket int) error {
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // the destination
		{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0xff000000},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: 0x7f000000, Jt: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: maxPacket},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	}
	err := unix.SetsockoptSockFprog(socket, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(program)), Filter: unsafe.SliceData(program)})
	if err != nil {
		return fmt.Errorf("filter packets: %w", err)
	}
	return nil
}

// routeToLoopback makes the loopback interface the default route; see rtnetlink(7).
func routeToLoopback() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	attribute := func(b []byte, kind uint16, value []byte) []byte {
		b = order.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
		return append(order.AppendUint16(b, kind), value...)
	}
	body := []byte{unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_LINK, unix.RTN_UNICAST, 0, 0, 0, 0}
	body = attribute(body, unix.RTA_OIF, order.AppendUint32(nil, uint32(lo.Index)))
	body = attribute(body, unix.RTA_PREFSRC, []byte{127, 0, 0, 1})
	message := order.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	message = order.AppendUint16(message, unix.RTM_NEWROUTE)
	message = order.AppendUint16(message, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	message = append(append(message, make([]byte, 8)...), body...) // number and sender, which are not used

	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("open a socket for routes: %w", err)
	}
	defer unix.Close(socket) //nolint:errcheck // the request has been answered
	if err := unix.Sendto(socket, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("make a route: %w", err)
	}
	answer := make([]byte, 512)
	n, _, err := unix.Recvfrom(socket, answer, 0)
	if err != nil {
		return fmt.Errorf("make a route: %w", err)
	}
	if n < unix.SizeofNlMsghdr+4 {
		return errors.New("make a route: the answer is cut off")
	}
	if code := int32(order.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		return fmt.Errorf("make a route: %w", unix.Errno(-code))
	}
	return nil
}
