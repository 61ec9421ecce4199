package drive

import (
	"bufio"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
)

// issuer issues certificates for stubbed hosts. Its key exists in memory only, for one trial.
type issuer struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pem  []byte
}

// validity is the time before and after now in which certificates are valid.
const validity = 24 * time.Hour

func newIssuer() (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the key of stubbed hosts: %w", err)
	}
	template := certificate(1)
	template.Subject = pkix.Name{CommonName: "rehearse, stubbed hosts of one trial"}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of stubbed hosts: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the certificate of stubbed hosts: %w", err)
	}
	return &issuer{key, cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

func certificate(serial int64) *x509.Certificate {
	now := clock.Real().Now() // as the agent reads it
	return &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: now.Add(-validity), NotAfter: now.Add(validity)}
}

// For returns a certificate for a host.
func (i *issuer) For(host string) (*tls.Certificate, error) {
	template := certificate(clock.Real().Now().UnixNano())
	template.Subject = pkix.Name{CommonName: host}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, i.cert, i.key.Public(), i.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", host, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, i.cert.Raw}, PrivateKey: i.key}, nil
}

// tunnel answers the requests of one connection to a stubbed host, over TLS.
func (p *egressProxy) tunnel(w http.ResponseWriter, hostport string) {
	host, _, _ := net.SplitHostPort(hostport)
	cert, err := p.issuer.For(host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	p.mu.Lock()
	p.tunnels[conn] = true
	p.open.Add(1)
	p.mu.Unlock()
	defer func() {
		_ = conn.Close()
		p.mu.Lock()
		delete(p.tunnels, conn)
		p.mu.Unlock()
		p.open.Done()
	}()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12})
	p.answerTunnel(secure, hostport)
}

// answerTunnel answers requests until the client leaves, or asks for something that is not stubbed.
func (p *egressProxy) answerTunnel(conn net.Conn, hostport string) {
	requests := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxStubbedBody)); err != nil {
			return
		}
		text, ok := p.hosts.Stubbed(hostport, r.URL.Path)
		if !ok && !p.hosts.Refuses(hostport) {
			p.report(hostport, cmp.Or(r.URL.Path, "/"))
		}
		if err := writeStub(conn, text, ok); err != nil || !ok || r.Close {
			return
		}
	}
}

// maxStubbedBody limits the body of a request to a stubbed host, in bytes.
const maxStubbedBody = 32 << 20

// answerStub answers a request that came without TLS.
func answerStub(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", stubType(text))
	_, _ = io.WriteString(w, text)
}

// writeStub writes the response to a request over TLS: the text, or a refusal.
func writeStub(conn io.Writer, text string, ok bool) error {
	answer := http.Response{StatusCode: http.StatusForbidden, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Close: true}
	if ok {
		answer.StatusCode, answer.Close, answer.ContentLength = http.StatusOK, false, int64(len(text))
		answer.Header.Set("Content-Type", stubType(text))
		answer.Body = io.NopCloser(strings.NewReader(text))
	}
	return answer.Write(conn)
}

// stubType returns the media type of a text.
func stubType(text string) string {
	if json.Valid([]byte(text)) {
		return "application/json"
	}
	return http.DetectContentType([]byte(text))
}
