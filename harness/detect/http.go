package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// HTTPConfig configures a detector behind an endpoint.
type HTTPConfig struct {
	// URL takes a POST of a question, {"id", "text", "lang"}, and answers with
	// {"id", "positive", …}, both as application/json.
	URL string
	// Timeout is how long an answer may take; default DefaultTimeout.
	Timeout time.Duration
	// Transport carries the requests; default http.DefaultTransport. Redirects are
	// not followed: they could lead off this machine.
	Transport http.RoundTripper
	// Clock times Timeout; default: the machine's.
	Clock clock.Clock
}

// HTTP returns a detector behind an endpoint. A request that fails is not made
// again: it is an error of its item.
func HTTP(cfg HTTPConfig) (Detector, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the endpoint is not of the form http://host/path") // without it: it may hold a password
	}
	if u.User != nil {
		return nil, errors.New("the endpoint's URL holds a user, which would be shown in reports; leave it out")
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Transport == nil {
		cfg.Transport = http.DefaultTransport
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.Real()
	}
	return &endpoint{cfg: cfg, name: u.Scheme + "://" + u.Host + u.EscapedPath()}, nil
}

type endpoint struct {
	cfg  HTTPConfig
	name string // without a query, which may hold a key
}

// Name implements Detector.
func (e *endpoint) Name() string { return e.name }

// Detect implements Detector.
func (e *endpoint) Detect(ctx context.Context, item Item) (Prediction, error) {
	body, err := encode(item)
	if err != nil {
		return Prediction{}, err
	}
	ctx, cancel := e.cfg.Clock.WithTimeout(ctx, e.cfg.Timeout)
	defer cancel()
	raw, err := e.post(ctx, body)
	if err != nil {
		if cause := clock.Err(ctx); cause != nil {
			err = cause // the transport's own words for it do not say why
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s: %w", e.cfg.Timeout, err)
		}
		return Prediction{}, fmt.Errorf("ask the endpoint: %w", err)
	}
	return decode(raw, item)
}

// post returns the body of a good answer.
func (e *endpoint) post(ctx context.Context, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := e.cfg.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answers %s: %s", sanitize.Line(resp.Status, 60), sanitize.Line(head(raw), maxQuote))
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return raw, nil
}
