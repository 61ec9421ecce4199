package drive

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func (e *Env) getenv(name string) string {
	if e.Getenv != nil {
		return e.Getenv(name)
	}
	return os.Getenv(name) //nolint:forbidigo // the default of Env.Getenv
}

// whyForbidden returns why a backend must not be called; empty if it may.
func (e *Env) whyForbidden(b scenarios.Backend) string {
	switch {
	case !b.Live():
		return ""
	case openai.FromEnv(e.getenv).Offline:
		return "its backend is live, and REHEARSE_OFFLINE forbids those"
	case !e.Live:
		return "its backend is live, which may cost money; allow it with --live"
	}
	return ""
}

// liveClient returns the project's client of a real model.
func (t *Trial) liveClient(ctx context.Context) (llm.Adapter, error) {
	b := &t.script.backend
	cfg := openai.Config{}
	if b.KeyEnv != "" {
		if cfg.APIKey = strings.TrimSpace(t.Env.getenv(b.KeyEnv)); cfg.APIKey == "" {
			return nil, fmt.Errorf("the variable %s, which holds the key of the live backend (key_env), is not set", b.KeyEnv)
		}
	}
	if limits, ok := meterOf(ctx).(LiveMeter); ok {
		address, err := url.Parse(b.URL)
		if err != nil {
			return nil, fmt.Errorf("parse the URL of the live backend: %w", err)
		}
		cfg.Pacer = limits.Pacer(address.Host)
	}
	return t.newClient(b.URL, cfg)
}
