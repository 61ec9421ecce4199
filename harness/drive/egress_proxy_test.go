package drive

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("the proxy", func() {
	var (
		proxy    *egressProxy
		hosts    scenarios.Hosts
		client   *http.Client
		mu       sync.Mutex
		reported []string
	)
	BeforeEach(func() {
		before := gleak.Goroutines()
		reported = nil
		hosts = scenarios.Hosts{
			Refuse: []string{"*.telemetry.example", "quiet.example:8443"},
			Stub:   map[string]string{"flags.example/v1/flags": `{"on": true}`, "flags.example/v1/text": "plain", "any.example": "<p>hello</p>"},
		}
		var err error
		proxy, err = listenProxy(nil, hosts, func(host, path string) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, host+path)
		})
		Expect(err).NotTo(HaveOccurred())
		address, err := url.Parse(proxy.url)
		Expect(err).NotTo(HaveOccurred())
		roots := x509.NewCertPool()
		Expect(roots.AppendCertsFromPEM(proxy.issuer.pem)).To(BeTrue())
		transport := &http.Transport{Proxy: http.ProxyURL(address), TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
		client = &http.Client{Transport: transport}
		DeferCleanup(func() {
			transport.CloseIdleConnections()
			Expect(proxy.Close()).To(Succeed())
			Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		})
	})

	reportedHosts := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(reported)
	}

	get := func(ctx context.Context, url string) (status int, body string, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		resp, err := client.Do(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(data), err
	}

	It("refuses a tunnel, as for https, and names the host", func(ctx SpecContext) {
		_, _, err := get(ctx, "https://API.openai.com/v1/models")
		Expect(err).To(MatchError(ContainSubstring("Forbidden")))
		Expect(reportedHosts()).To(Equal([]string{"api.openai.com:443"}))
	})

	It("refuses a plain request with the reason", func(ctx SpecContext) {
		status, body, err := get(ctx, "http://example.com/x")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusForbidden))
		Expect(body).To(ContainSubstring("example.com:80"))
	})

	It("reports each host once, in order, before the client is refused", func(ctx SpecContext) {
		for _, url := range []string{"http://b.example:8080", "http://a.example", "http://b.example:8080/again", "http://[2001:db8::1]"} {
			_, _, err := get(ctx, url)
			Expect(err).NotTo(HaveOccurred())
		}
		want := []string{"b.example:8080/", "a.example:80/", "[2001:db8::1]:80/"}
		Expect(reportedHosts()).To(Equal(want))
	})

	It("remembers a bounded number of hosts", func(ctx SpecContext) {
		for n := range 120 {
			_, _, err := get(ctx, fmt.Sprintf("http://host-%d.example", n))
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(reportedHosts()).To(HaveLen(100))
	})

	DescribeTable("answers careless clients",
		func(ctx SpecContext, request, status string, hosts ...string) {
			address, err := url.Parse(proxy.url)
			Expect(err).NotTo(HaveOccurred())
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address.Host)
			Expect(err).NotTo(HaveOccurred())
			defer conn.Close()
			_, err = io.WriteString(conn, request+"\r\n\r\n")
			Expect(err).NotTo(HaveOccurred())
			answer, err := io.ReadAll(conn)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(answer)).To(HavePrefix("HTTP/1.1 " + status))
			Expect(reportedHosts()).To(ConsistOf(hosts))
		},
		Entry("that send no request", "CONNECT \x00 HTTP/1.1", "400"),
		Entry("that name no port", "CONNECT api.openai.com HTTP/1.1\r\nHost: api.openai.com", "403", "api.openai.com:443"),
		Entry("that use it as a server", "GET /v1/models HTTP/1.1\r\nHost: api.openai.com", "403", "api.openai.com:80/v1/models"),
	)

	It("answers stubbed hosts, over http and https", func(ctx SpecContext) {
		for _, scheme := range []string{"http", "https"} {
			for path, want := range map[string]string{"flags.example/v1/flags": `{"on": true}`, "flags.example/v1/text?x=1": "plain", "any.example/what/ever": "<p>hello</p>"} {
				status, body, err := get(ctx, scheme+"://"+path)
				Expect(err).NotTo(HaveOccurred())
				Expect(status).To(Equal(http.StatusOK))
				Expect(body).To(Equal(want))
			}
		}
		Expect(reportedHosts()).To(BeEmpty())
	})

	It("refuses and reports what is not stubbed at a stubbed host", func(ctx SpecContext) {
		status, _, err := get(ctx, "https://flags.example/v2")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusForbidden))
		Expect(reportedHosts()).To(Equal([]string{"flags.example:443/v2"}))
	})

	It("says what is answered instead of a request to a stubbed host", Label("H-02"), func() {
		stubs := []string{"flags.example/v1/flags"}
		Expect((&refusedHost{host: "flags.example:443", path: "/v2", stubs: stubs}).Error()).To(And(
			ContainSubstring("called flags.example:443/v2"), ContainSubstring("answers flags.example/v1/flags and no other path")))
		Expect((&refusedHost{host: "flags.example", stubs: stubs}).Error()).To(ContainSubstring("past the proxy"))
		Expect((&refusedHost{host: "a.example:443"}).Error()).To(And(
			ContainSubstring("called a.example:443, which"), ContainSubstring("name them under hosts: in the scenario")))
	})

	It("refuses hosts that the scenario expects, and does not report them", func(ctx SpecContext) {
		_, _, err := get(ctx, "https://a.telemetry.example/v1")
		Expect(err).To(MatchError(ContainSubstring("Forbidden")))
		status, _, err := get(ctx, "http://quiet.example:8443/")
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusForbidden))
		Expect(reportedHosts()).To(BeEmpty())
		_, _, err = get(ctx, "https://quiet.example/")
		Expect(err).To(HaveOccurred())
		_, _, err = get(ctx, "https://telemetry.example/")
		Expect(err).To(HaveOccurred())
		Expect(reportedHosts()).To(Equal([]string{"quiet.example:443", "telemetry.example:443"}))
	})

	It("is found by the usual variables, but not used for this machine", func() {
		folder := GinkgoT().TempDir()
		env, err := proxy.Env(folder)
		Expect(err).NotTo(HaveOccurred())
		Expect(env).To(ContainElement("NODE_EXTRA_CA_CERTS=" + filepath.Join(folder, "stubbed-hosts.pem")))
		Expect(env).To(ContainElements("HTTPS_PROXY="+proxy.url, "https_proxy="+proxy.url, "ALL_PROXY="+proxy.url, "NO_PROXY=127.0.0.1,localhost,::1"))
	})
})

// BenchmarkListen measures the creation of a trial's proxy.
func BenchmarkListen(b *testing.B) {
	for b.Loop() {
		proxy, err := listenProxy(nil, scenarios.Hosts{}, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := proxy.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFloorListen opens and closes a listener alone.
func BenchmarkFloorListen(b *testing.B) {
	for b.Loop() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
