package drive

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the network of a trial", func() {
	var (
		network *trialNetwork
		hosts   chan string
	)
	BeforeEach(func() {
		hosts = make(chan string, 10)
		var err error
		network, err = newTrialNetwork(func(name string) { hosts <- name })
		if runtime.GOOS != "linux" || errors.Is(err, os.ErrPermission) {
			Skip(err.Error())
		}
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(network.Close()).To(Succeed()) })
	})

	It("has listeners that can be reached from within, and not from outside", func(ctx SpecContext) {
		l, err := network.listen()
		Expect(err).NotTo(HaveOccurred())
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })}
		go func() { _ = server.Serve(l) }()
		DeferCleanup(server.Close)
		dial := func() (net.Conn, error) { return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String()) }
		Expect(network.Within(func() error {
			conn, err := dial()
			if err == nil {
				err = conn.Close()
			}
			return err
		})).To(Succeed())
		_, err = dial()
		Expect(err).To(MatchError(ContainSubstring("refused")))
	})

	It("cannot reach other machines, nor servers of this machine outside the network", func(ctx SpecContext) {
		outside := httptest.NewServer(http.NotFoundHandler())
		DeferCleanup(outside.Close)
		Expect(network.Within(func() error {
			_, err := (&net.Dialer{}).DialContext(ctx, "tcp", outside.Listener.Addr().String())
			return err
		})).To(HaveOccurred())
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", outside.Listener.Addr().String())
		Expect(err).NotTo(HaveOccurred(), "this thread is outside again")
		Expect(conn.Close()).To(Succeed())
	})

	It("reports the addresses of packets, also without a lookup of a name", func(ctx SpecContext) {
		for _, proto := range []string{"tcp", "udp"} {
			err := network.Within(func() error {
				var dialer net.Dialer
				if proto == "tcp" {
					dialer.Timeout = 20 * time.Millisecond // the packets are dropped, so nothing answers
				}
				conn, err := dialer.DialContext(ctx, proto, "192.0.2.1:443")
				if err == nil {
					_, err = io.WriteString(conn, "hello")
					_ = conn.Close()
				}
				return err
			})
			Expect(err != nil).To(Equal(proto == "tcp"), "%v", err)
			Eventually(hosts).Should(Receive(Equal("192.0.2.1:443")))
			for len(hosts) > 0 {
				<-hosts // a packet is seen leaving and coming back
			}
		}
	})

	It("reports the names that are looked up, and answers that they do not exist", func(ctx SpecContext) {
		resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, proto, address string) (conn net.Conn, err error) {
			err = network.Within(func() error {
				conn, err = (&net.Dialer{}).DialContext(ctx, proto, address)
				return err
			})
			return conn, err
		}}
		_, err := resolver.LookupHost(ctx, "API.example.com.")
		failed, ok := errors.AsType[*net.DNSError](err)
		Expect(ok).To(BeTrue(), "%v", err)
		Expect(failed.IsNotFound).To(BeTrue(), "%v", err)
		Eventually(hosts).Should(Receive(Equal("api.example.com")))
	})
})

// query returns a query for the address of a name; see RFC 1035.
func query(labels ...string) []byte {
	q := []byte{0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	for _, label := range labels {
		q = append(append(q, byte(len(label))), label...)
	}
	return append(q, 0, 0, 1, 0, 1)
}

var _ = Describe("the simulated name server", func() {
	It("reads the name and answers that it does not exist", func() {
		q := query("API", "Example", "com")
		name, answer, err := noSuchName(append(q, "something behind it"...))
		Expect(err).NotTo(HaveOccurred())
		Expect(name).To(Equal("api.example.com"))
		Expect(answer[:4]).To(Equal([]byte{0xab, 0xcd, 0x81, 0x83}), "the id, a response, no such name")
		Expect(answer[4:12]).To(Equal([]byte{0, 1, 0, 0, 0, 0, 0, 0}))
		Expect(answer[12:]).To(Equal(q[12:]))
	})

	DescribeTable("does not answer a message that is not a question",
		func(q []byte) {
			_, _, err := noSuchName(q)
			Expect(err).To(HaveOccurred())
		},
		Entry("too short", query("a")[:11]),
		Entry("a response", append([]byte{0, 0, 0x81}, query("a")[3:]...)),
		Entry("without a question", append([]byte{0, 0, 1, 0, 0, 0}, query("a")[6:]...)),
		Entry("cut off in a label", query("example")[:15]),
		Entry("cut off behind the name", query("a")[:16]),
		Entry("a pointer in place of a label", append(query("a")[:12], 0xc0, 12, 0, 1, 0, 1)),
	)

	DescribeTable("reports other machines only",
		func(name string, want bool) { Expect(isOtherHost(name, "Here")).To(Equal(want)) },
		Entry("another name", "api.example.com", true), Entry("localhost", "localhost", false),
		Entry("the hostname", "here", false), Entry("the root", "", false), Entry("a reverse lookup", "1.0.0.127.in-addr.arpa", false),
	)

	It("listens at the addresses of the machine's name servers", func() {
		conf := "# comment\nsearch example.com\nnameserver 10.0.0.2\nnameserver\nnameserver fe80::1%eth0\nnameserver x\n nameserver 127.0.0.53 \n"
		Expect(resolvers([]byte(conf))).To(Equal([]netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("127.0.0.53")}))
	})
})

var _ = Describe("the destination of a packet", func() {
	packet := func(protocol byte, to ...byte) []byte {
		p := make([]byte, 20, 28)
		p[0], p[9] = 0x45, protocol
		copy(p[16:], to)
		return append(p, 0x12, 0x34, 0x01, 0xbb, 0, 0, 0, 0)
	}
	options := append([]byte{0x46}, packet(6, 192, 0, 2, 1)[1:20]...)
	options = append(append(options, 0, 0, 0, 0), 0x12, 0x34, 0x01, 0xbb)
	later := packet(17, 192, 0, 2, 1)
	later[7] = 1

	DescribeTable("is another machine",
		func(p []byte, want string) {
			to, ok := destination(p)
			Expect(ok).To(BeTrue())
			Expect(to).To(Equal(netip.MustParseAddrPort(want)))
		},
		Entry("by TCP", packet(6, 192, 0, 2, 1), "192.0.2.1:443"),
		Entry("by UDP", packet(17, 8, 8, 8, 8), "8.8.8.8:443"),
		Entry("without ports", packet(1, 192, 0, 2, 1), "192.0.2.1:0"),
		Entry("behind options", options, "192.0.2.1:443"),
		Entry("with a later fragment", later, "192.0.2.1:0"),
		Entry("whose header has no length", append([]byte{0x40}, packet(6, 192, 0, 2, 1)[1:]...), "192.0.2.1:0"),
		Entry("cut off before the ports", packet(6, 192, 0, 2, 1)[:23], "192.0.2.1:0"),
	)

	DescribeTable("is not another machine",
		func(p []byte) {
			_, ok := destination(p)
			Expect(ok).To(BeFalse())
		},
		Entry("cut off", packet(6, 192, 0, 2, 1)[:19]),
		Entry("of IPv6", append([]byte{0x60}, packet(6, 192, 0, 2, 1)[1:]...)),
		Entry("to this machine", packet(6, 127, 0, 0, 2)),
		Entry("to the unspecified address", packet(6, 0, 0, 0, 0)),
		Entry("to a multicast address", packet(17, 224, 0, 0, 251)),
		Entry("to the broadcast address", packet(17, 255, 255, 255, 255)),
	)
})

func FuzzDestination(f *testing.F) {
	f.Add([]byte{0x45, 19: 1})
	f.Fuzz(func(t *testing.T, packet []byte) {
		if to, ok := destination(packet); ok && !to.Addr().Is4() {
			t.Fatal(to)
		}
	})
}

func FuzzQuestion(f *testing.F) {
	f.Add(query("api", "example", "com"))
	f.Add(query())
	f.Fuzz(func(t *testing.T, q []byte) {
		_, answer, err := noSuchName(q)
		if err == nil && (len(answer) < 12 || answer[2]&0x80 == 0 || answer[3]&0x0f != 3) {
			t.Fatal(answer)
		}
	})
}

// BenchmarkNetwork measures the creation of a trial's network.
func BenchmarkNetwork(b *testing.B) {
	for b.Loop() {
		network, err := newTrialNetwork(func(string) {})
		if err != nil {
			b.Skip(err)
		}
		if err := network.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
