package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/internal/loopback"
)

// maxBody limits a response, in bytes.
const maxBody = 4 << 20

// talk is the client's side of a conversation.
type talk struct {
	dialogue  Dialogue
	base      string
	clock     clock.Clock
	client    *http.Client
	reach     dialer
	perturbed bool
	turns     int
	id        string // the session's, as the application gave it
}

// redirectedHost is the error of a redirect to another machine, which is not followed.
type redirectedHost struct{ host string }

func (e *redirectedHost) Error() string { return "redirected to " + e.host }

// newClient returns a client that reaches only this machine. Each request has a connection
// of its own, so that a connection is never closed because it was idle between turns.
func newClient(reach dialer) *http.Client {
	all, _ := cookiejar.New(nil) // its error is always nil
	return &http.Client{
		Jar:       jar{all},
		Transport: &http.Transport{DialContext: reach, DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			const most = 10
			if !loopback.Is(r.URL.Hostname()) && r.URL.Host != via[0].URL.Host {
				return &redirectedHost{r.URL.Host}
			}
			if len(via) >= most {
				return errors.New("it redirects without end")
			}
			return nil
		},
	}
}

// jar stores the cookies of one application, whose address may change at a restart.
type jar struct{ all *cookiejar.Jar }

var application = &url.URL{Scheme: "http", Host: "application.test", Path: "/"}

// at returns the application's fixed URL with the path of u.
func at(u *url.URL) *url.URL {
	same := *application
	same.Path = u.Path
	return &same
}

// SetCookies implements http.CookieJar.
func (j jar) SetCookies(u *url.URL, cookies []*http.Cookie) { j.all.SetCookies(at(u), cookies) }

// Cookies implements http.CookieJar.
func (j jar) Cookies(u *url.URL) []*http.Cookie { return j.all.Cookies(at(u)) }

// dialer connects to an address.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// dialIn returns a dialer that connects as dial does, in the network that within enters;
// nil is this machine's.
func dialIn(within func(do func() error) error) dialer {
	if within == nil {
		return dial
	}
	return func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		err = within(func() error {
			conn, err = dial(ctx, network, address)
			return err
		})
		return conn, err
	}
}

// dialTimeout limits how long connecting takes. A transport continues to connect after the
// request was canceled, and a container that has ended does not refuse connections.
const dialTimeout = 5 * time.Second

// dial connects to an address on 127.0.0.1, or to the same port on ::1, since a program that
// listens on "localhost" may choose either.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err == nil || ctx.Err() != nil {
		return conn, err
	}
	if host, port, _ := net.SplitHostPort(address); host == "127.0.0.1" {
		if conn, err := d.DialContext(ctx, network, net.JoinHostPort("::1", port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// Say implements app.Session.
func (t *talk) Say(ctx context.Context, text string) (app.Answer, error) {
	t.turns++
	request, err := t.dialogue.request.make(t.base, turn{Turn: text, N: t.turns, Session: t.id})
	if err != nil {
		return app.Answer{}, app.Errorf(app.Unusable, "turn %d makes no request: %w", t.turns, err)
	}
	response, err := t.client.Do(request.WithContext(ctx))
	if err != nil {
		return app.Answer{}, t.lost(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	switch {
	case len(data) > maxBody:
		return app.Answer{}, app.Errorf(app.Flooded, "the application's answer has more than %d bytes", maxBody)
	case err != nil:
		return app.Answer{}, t.lost(ctx, err)
	case response.StatusCode >= http.StatusBadRequest:
		failed := app.Errorf(app.Failed, "the application answered with the HTTP status %s: %s", response.Status, excerpt(data))
		failed.Code = response.StatusCode
		return app.Answer{}, failed
	case response.StatusCode >= http.StatusMultipleChoices:
		return app.Answer{}, app.Errorf(app.Unusable,
			"the application answered with the HTTP status %s, which has no answer; set request.path to the path that answers",
			response.Status)
	}
	content, err := t.dialogue.read(response.Header.Get("Content-Type"), data)
	if err != nil {
		return app.Answer{}, err
	}
	t.id = cmp.Or(content.id, t.id)
	// The first answer may be a greeting before there is a session, and any answer an apology for a fault; otherwise the next
	// request needs the id.
	if path := t.dialogue.session; !path.IsZero() && t.id == "" && t.turns > 1 && !t.perturbed {
		return app.Answer{}, app.Errorf(app.Unusable,
			"none of the application's %d answers has anything at %s (session), so each turn begins a new session: %s", t.turns, path, excerpt(data))
	}
	return app.Answer{Text: content.text, Raw: truncate(data), Attrs: map[string]any{"http_status": response.StatusCode}}, nil
}

// End implements app.Session. It does not end the application, which ran before.
func (t *talk) End(context.Context) error { return nil }

// lost returns the reason why a request had no whole response.
func (t *talk) lost(ctx context.Context, err error) error {
	cause := clock.Err(ctx)
	away, redirected := errors.AsType[*redirectedHost](err)
	switch why := reason(err); {
	case errors.Is(cause, context.DeadlineExceeded):
		return app.Errorf(app.TimedOut, "the application did not answer in time: %w", cause)
	case cause != nil:
		return cause
	case redirected:
		return app.Errorf(app.Unusable, "the application redirects to %s, which is not on this machine; the harness does not go there", away.host)
	case strings.Contains(why, "malformed HTTP"):
		return app.Errorf(app.Unusable, "what answers speaks no HTTP: %s", why)
	default:
		return app.Errorf(app.Crashed, "the application cut the connection (%s)", why)
	}
}

// reason returns why a connection failed, without addresses: they differ from run to run.
func reason(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// ready waits until the application accepts requests.
func (t *talk) ready(ctx context.Context, base string, gone <-chan struct{}) error {
	timed, cancel := t.clock.WithTimeout(ctx, t.dialogue.healthTimeout)
	defer cancel()
	timed, leave := untilGone(timed, gone)
	defer leave()
	var last error // of a probe that was not canceled
	for pause := shortPause; ; pause = min(2*pause, longPause) {
		err := t.healthy(timed, base)
		if err == nil {
			return nil
		}
		if last == nil || clock.Err(timed) == nil {
			last = err
		}
		if t.clock.Sleep(timed, pause) == nil {
			continue
		}
		switch cause := clock.Err(timed); {
		case clock.Err(ctx) != nil:
			return clock.Err(ctx)
		case errors.Is(cause, ErrGone):
			return cause
		default:
			return app.Errorf(app.Unusable,
				"the application could not be spoken to within %s (health_timeout): %s", t.dialogue.healthTimeout, reason(last))
		}
	}
}

// The pauses between two probes of an application.
const (
	shortPause = 2 * time.Millisecond
	longPause  = 50 * time.Millisecond
)

// ErrGone means that an application ended before it was ready. The error of Open
// describes how.
var ErrGone = errors.New("the application ended")

// untilGone returns a context that also ends when the application has ended.
func untilGone(ctx context.Context, gone <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if gone != nil {
		go func() {
			select {
			case <-gone:
				cancel(ErrGone)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// healthy probes once whether the application accepts requests.
func (t *talk) healthy(ctx context.Context, base string) error {
	ctx, cancel := t.clock.WithTimeout(ctx, probeTimeout)
	defer cancel()
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	if t.dialogue.health == "" {
		conn, err := t.reach(ctx, "tcp", u.Host)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+t.dialogue.health, nil)
	if err != nil {
		return err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with the HTTP status %s, not 200", t.dialogue.health, response.Status)
	}
	return nil
}

// probeTimeout limits one probe, so that an application that hangs in the first probe is
// probed again.
const probeTimeout = 2 * time.Second
