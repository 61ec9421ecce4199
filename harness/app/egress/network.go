package egress

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
)

// ErrNoNetwork means that programs cannot be given a network of their own here.
var ErrNoNetwork = errors.New("programs cannot be given a network of their own here")

// resolvers are the addresses of the machine's name servers, as resolv.conf(5) has them.
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

const (
	headerSize = 12  // bytes of a DNS header; see RFC 1035, section 4.1.1
	maxQuery   = 512 // bytes of a query over UDP
)

// serveNames answers that there is no such name, whatever is asked for, and tells of the
// names, until the connection is closed.
func serveNames(on net.PacketConn, asked func(name string)) {
	hostname, _ := os.Hostname()
	buf := make([]byte, maxQuery)
	for {
		n, from, err := on.ReadFrom(buf)
		if err != nil {
			return
		}
		name, end, ok := question(buf[:n])
		if !ok {
			continue
		}
		if outside(name, hostname) {
			asked(name)
		}
		_, _ = on.WriteTo(noSuchName(buf[:end]), from)
	}
}

// outside reports whether a name is that of another machine: neither one of ours nor the
// question for the name of an address.
func outside(name, hostname string) bool {
	return name != "" && name != "localhost" && !strings.EqualFold(name, hostname) && !strings.HasSuffix(name, ".arpa")
}

// question is the name that a query asks for, in lower case, and where the question
// ends; see RFC 1035, section 4.1.2.
func question(query []byte) (name string, end int, ok bool) {
	if len(query) < headerSize || query[2]&0x80 != 0 || query[5] != 1 {
		return "", 0, false
	}
	var labels []string
	at := headerSize
	for at < len(query) && query[at] != 0 {
		next := at + 1 + int(query[at])
		if query[at] > 63 || next >= len(query) {
			return "", 0, false
		}
		labels = append(labels, string(query[at+1:next]))
		at = next
	}
	end = at + 1 + 4 // the root, the type and the class
	if end > len(query) {
		return "", 0, false
	}
	return strings.ToLower(strings.Join(labels, ".")), end, true
}

// noSuchName is the answer to a query, which is cut off behind its question.
func noSuchName(query []byte) []byte {
	answer := bytes.Clone(query)
	answer[2] |= 0x80           // a response
	answer[3] = 0x80 | 3        // recursion is available; NXDOMAIN
	clear(answer[6:headerSize]) // no records
	return answer
}

// maxPacket is how much of a packet is read, in bytes: where it goes.
const maxPacket = 128

// readStrays tells of the machines that packets go to, but for ours, until the source of
// packets ends.
func readStrays(from io.Reader, ours []netip.Addr, asked func(host string)) {
	buf := make([]byte, maxPacket)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if to, ok := destination(buf[:n]); ok && !slices.Contains(ours, to.Addr()) {
			asked(hostPort(to))
		}
	}
}

// hostPort is a machine as a message names it, without a port that is not known.
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

// destination is the other machine that an IPv4 packet goes to, and the port if it has
// one; see RFC 791, section 3.1. What goes to this machine, to nobody or to everybody is
// not for one.
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
	if first := binary.BigEndian.Uint16(packet[6:8])&0x1fff == 0; first && (protocol == tcp || protocol == udp) && header >= minIP && len(packet) >= header+4 {
		port = binary.BigEndian.Uint16(packet[header+2:])
	}
	return netip.AddrPortFrom(addr, port), true
}
