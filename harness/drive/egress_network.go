package drive

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// errNoNetwork means that programs cannot have their own network on this machine.
var errNoNetwork = errors.New("programs cannot be given a network of their own here")

// resolvers returns the addresses of the machine's name servers; see resolv.conf(5).
func resolvers(conf []byte) (all []netip.Addr) {
	lines := bufio.NewScanner(bytes.NewReader(conf))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if addr, err := netip.ParseAddr(fields[1]); err == nil && addr.Is4() {
			all = append(all, addr)
		}
	}
	return all
}

// maxQuery is the size of a query over UDP, in bytes; see RFC 1035, section 4.2.1.
const maxQuery = 512

// serveNames answers every query with NXDOMAIN, and calls onHost with the names of other
// machines, until the connection is closed.
func serveNames(on net.PacketConn, onHost func(name string)) {
	hostname, _ := os.Hostname()
	buf := make([]byte, maxQuery)
	for {
		n, from, err := on.ReadFrom(buf)
		if err != nil {
			return
		}
		name, reply, err := noSuchName(buf[:n])
		if err != nil {
			continue
		}
		if isOtherHost(name, hostname) {
			onHost(name)
		}
		_, _ = on.WriteTo(reply, from)
	}
}

// isOtherHost reports whether a name is that of another machine, and not of this one or a
// reverse lookup.
func isOtherHost(name, hostname string) bool {
	return name != "" && name != "localhost" && !strings.EqualFold(name, hostname) && !strings.HasSuffix(name, ".arpa")
}

// noSuchName returns the name that a query asks for, in lower case, and the reply NXDOMAIN.
func noSuchName(query []byte) (name string, reply []byte, err error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return "", nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return "", nil, err
	}
	if _, err := parser.Question(); header.Response || !errors.Is(err, dnsmessage.ErrSectionDone) {
		return "", nil, errors.New("the message is not a query with one question")
	}
	header.Response, header.RecursionAvailable, header.RCode = true, true, dnsmessage.RCodeNameError
	answer := dnsmessage.Message{Header: header, Questions: []dnsmessage.Question{question}}
	reply, err = answer.Pack()
	return strings.ToLower(strings.TrimSuffix(question.Name.String(), ".")), reply, err
}

// maxPacket limits how much of a packet is read, in bytes: its headers.
const maxPacket = 128

// readStrays calls onHost with the destinations of packets, except our own addresses, until
// the source of packets ends.
func readStrays(from io.Reader, ours []netip.Addr, onHost func(host string)) {
	buf := make([]byte, maxPacket)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if to, ok := destination(buf[:n]); ok && !slices.Contains(ours, to.Addr()) {
			onHost(hostPort(to))
		}
	}
}

// hostPort formats a destination, without an unknown port.
func hostPort(to netip.AddrPort) string {
	if to.Port() == 0 {
		return to.Addr().String()
	}
	return to.String()
}

const (
	tcp, udp = 6, 17 // protocols; see RFC 791, section 3.1
	minIP    = 20    // bytes of a header without options
)

// destination returns the machine that an IPv4 packet goes to, and the port if it has one;
// see RFC 791, section 3.1. It is not ok for this machine, the unspecified address, and
// multicast and broadcast addresses.
func destination(packet []byte) (to netip.AddrPort, ok bool) {
	if len(packet) < minIP || packet[0]>>4 != 4 {
		return netip.AddrPort{}, false
	}
	addr := netip.AddrFrom4([4]byte(packet[16:20]))
	everybody := netip.AddrFrom4([4]byte{255, 255, 255, 255})
	if addr.IsLoopback() || addr.IsUnspecified() || addr.IsMulticast() || addr == everybody {
		return netip.AddrPort{}, false
	}
	var port uint16
	header, protocol := 4*int(packet[0]&0x0f), packet[9]
	first := binary.BigEndian.Uint16(packet[6:8])&0x1fff == 0
	if first && (protocol == tcp || protocol == udp) && header >= minIP && len(packet) >= header+4 {
		port = binary.BigEndian.Uint16(packet[header+2:])
	}
	return netip.AddrPortFrom(addr, port), true
}
