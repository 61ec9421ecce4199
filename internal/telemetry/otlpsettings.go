package telemetry

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// defaultExportTimeout is the default of the OpenTelemetry specification.
const defaultExportTimeout = 10 * time.Second

// otlpSettings configure the export of spans.
type otlpSettings struct {
	url     string
	headers http.Header
	timeout time.Duration
	gzip    bool
	json    bool
	tls     *tls.Config
}

// readOTLPSettings reads the standard variables of an OTLP exporter. Variables for traces, such as
// OTEL_EXPORTER_OTLP_TRACES_TIMEOUT, override those for all signals.
func readOTLPSettings(getenv func(string) string) (*otlpSettings, error) {
	variable := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	s := &otlpSettings{timeout: defaultExportTimeout, gzip: variable("COMPRESSION") == "gzip", json: variable("PROTOCOL") == "http/json"}
	var err error
	if s.url, err = collectorURL(getenv); err != nil {
		return nil, err
	}
	if s.headers, err = readHeaders(variable("HEADERS")); err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	if text := variable("TIMEOUT"); text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds above 0, got %q", text)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	if s.tls, err = readTLS(variable); err != nil {
		return nil, err
	}
	return s, nil
}

// collectorURL returns the URL of the collector: the endpoint for traces unchanged, or the endpoint for
// all signals with the path of traces appended.
func collectorURL(getenv func(string) string) (string, error) {
	name, path := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""
	if getenv(name) == "" {
		name, path = "OTEL_EXPORTER_OTLP_ENDPOINT", "v1/traces"
	}
	u, err := url.Parse(getenv(name))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("%s must be an http or https URL, got %q", name, getenv(name))
	}
	return u.JoinPath(path).String(), nil
}

// readHeaders parses a list such as "api-key=abc,tenant=one%20two".
func readHeaders(list string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !found || err != nil {
			return nil, errors.New("must be a list of key=value with URL escapes") // without the value, which may be secret
		}
		headers.Set(strings.TrimSpace(key), value)
	}
	return headers, nil
}

// readTLS loads the certificates named by the environment; nil without any.
func readTLS(variable func(string) string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file := variable("CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s contains no PEM certificate", file)
		}
	}
	if certificate, key := variable("CLIENT_CERTIFICATE"), variable("CLIENT_KEY"); certificate != "" && key != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if config.RootCAs == nil && config.Certificates == nil {
		return nil, nil //nolint:nilnil // the transport's own settings
	}
	return config, nil
}
