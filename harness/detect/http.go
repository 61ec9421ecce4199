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

// HTTPConfig configures a detector behind an HTTP endpoint.
type HTTPConfig struct {
	// URL receives a POST with the question, {"id", "text", "request", "lang"}, and answers with
	// {"id", "positive", …}, both as application/json.
	URL string
	// Timeout limits the time of an answer; default DefaultTimeout.
	Timeout time.Duration
	// Transport sends the requests; default http.DefaultTransport. Redirects are not followed,
	// because they could lead to another machine.
	Transport http.RoundTripper
	// Clock measures timeouts; default clock.Real().
	Clock clock.Clock
}

// HTTP returns a detector behind an HTTP endpoint. A failed request is not repeated; it is an error
// of its item.
func HTTP(cfg HTTPConfig) (Detector, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("the endpoint is not of the form http://host/path") // not quoted: it may contain a password
	}
	if u.User != nil {
		return nil, errors.New("the endpoint's URL contains a user, which reports would show; remove it")
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
	name string // without the query, which may contain a key
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
			err = cause // the transport's error does not name the cause
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s: %w", e.cfg.Timeout, err)
		}
		return Prediction{}, fmt.Errorf("ask the endpoint: %w", err)
	}
	return decode(raw, item)
}

// post returns the body of a successful response.
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
		return nil, fmt.Errorf("status %s: %s", sanitize.Line(resp.Status, 60), sanitize.Line(head(raw), maxQuote))
	case len(raw) > maxAnswer:
		return nil, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	return raw, nil
}
