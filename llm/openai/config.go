package openai

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// The defaults of Config.
const (
	defaultID      = "openai"
	defaultBaseURL = "https://api.openai.com/v1"
	defaultModel   = "gpt-4.1-mini"
)

// Config configures a Backend. The zero value, with a key, calls OpenAI's own API.
type Config struct {
	// ID is the adapter's id; default "openai".
	ID string
	// BaseURL is the API's root; default "https://api.openai.com/v1".
	BaseURL string
	// APIKey is sent as a bearer token; some servers need no key. Printed Configs and Backends do
	// not contain it, and it is removed from errors.
	APIKey string
	// Model for requests without a model; default "gpt-4.1-mini".
	Model string
	// Store asks the provider to store each completion. OpenAI's API accepts metadata only with
	// it, so purpose and tags are sent only with Store or to loopback servers (scripted backends).
	Store bool
	// Offline makes New fail for hosts other than loopback ones.
	Offline bool
	// Transport for requests; default http.DefaultTransport. Redirects
	// are never followed: they could leave the loopback host or reveal the key.
	Transport http.RoundTripper
	// Clock measures AttemptTimeout, dates in Retry-After, and the waits between
	// attempts; default clock.Real().
	Clock clock.Clock
	// Retry defines when failed attempts are repeated.
	Retry RetryPolicy
	// Pacer, if set, limits how often the server is called.
	Pacer Pacer
	// Requests, if set, remembers encoded requests.
	Requests *Requests
	// AttemptTimeout limits an attempt, which then fails with llm.Timeout; 0 means no limit in
	// addition to the context's.
	AttemptTimeout time.Duration
}

// FromEnv returns the configuration for real runs: it reads OPENAI_API_KEY and OPENAI_BASE_URL;
// REHEARSE_OFFLINE, unless empty, "0" or "false", sets Offline. Waits between attempts have random
// jitter. Getenv is usually os.Getenv.
func FromEnv(getenv func(string) string) Config {
	offline := strings.ToLower(strings.TrimSpace(getenv("REHEARSE_OFFLINE")))
	return Config{
		APIKey:  strings.TrimSpace(getenv("OPENAI_API_KEY")),
		BaseURL: strings.TrimSpace(getenv("OPENAI_BASE_URL")),
		Offline: offline != "" && offline != "0" && offline != "false",
		Retry:   RetryPolicy{Rand: rand.Float64},
	}
}

// Format prints the configuration, with any verb, without its key.
func (c Config) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{ID:%q BaseURL:%q Model:%q Key:%t Store:%t Offline:%t}",
		c.ID, sanitize.MaskURL(c.BaseURL), c.Model, c.APIKey != "", c.Store, c.Offline)
}

// withDefaults returns c with every zero field replaced by its default.
func (c Config) withDefaults() Config {
	if c.ID == "" {
		c.ID = defaultID
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBaseURL
	}
	if c.Model == "" {
		c.Model = defaultModel
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	c.Retry = c.Retry.withDefaults()
	return c
}

// validate returns the base URL's host, or everything that is wrong with c.
func (c Config) validate() (host string, err error) {
	var problems []error
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https"):
		// The error of the parser could contain a password.
		problems = append(problems, fmt.Errorf("base URL %q is not of the form https://host/v1", sanitize.MaskURL(c.BaseURL)))
		base = &url.URL{}
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		problems = append(problems, fmt.Errorf(
			"base URL %q has a user, a query or a fragment; leave them out and give a key", sanitize.MaskURL(c.BaseURL)))
	case c.Offline && !loopback.Is(base.Hostname()):
		problems = append(problems, fmt.Errorf(
			"host %q is not on this machine and REHEARSE_OFFLINE forbids every other; use a scripted backend or unset it", base.Hostname()))
	}
	if strings.ContainsFunc(c.APIKey, unicode.IsControl) {
		problems = append(problems, errors.New("the API key has a line break or another control character; set it again"))
	}
	if c.AttemptTimeout < 0 {
		problems = append(problems, fmt.Errorf("attempt timeout %s is negative", c.AttemptTimeout))
	}
	if c.Retry.Base < 0 || c.Retry.Cap < 0 {
		problems = append(problems, fmt.Errorf("retry waits %s to %s are negative", c.Retry.Base, c.Retry.Cap))
	}
	return base.Hostname(), errors.Join(problems...)
}
