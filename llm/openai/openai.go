// Package openai is a backend for OpenAI's chat API and compatible servers, built on go-openai. It adds
// typed errors, retries on an injected clock, limits on answers, and checks that an answer is complete.
//
// # Kinds of errors
//
//	429                                                     rate-limited
//	408, attempt timeout, network timeout                   timeout
//	409, 5xx, refused, reset before any byte of the answer  unavailable
//	body or stream cut, or reset after its first byte       truncated
//	401, 403                                                unauthorized
//	other 3xx and 4xx, or a request that cannot be encoded  invalid-request
//	not JSON, not UTF-8, wrong Content-Type, no choices,
//	no finish reason, over 64 MiB                           malformed
//	refusal, finish reason content_filter                   refused
//	error codes unexpected_call, script_exhausted           those of a script
//
// A finish reason "length" is not an error but part of the Reply. A stream that ends after a finish reason
// but without [DONE] is complete, because many servers never send it. Repeated stream chunks are kept,
// because they cannot be distinguished from a model that repeats itself.
package openai

import (
	"context"
	"fmt"
	"strings"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/llm"
)

// Backend calls one server. It is safe for concurrent use.
type Backend struct {
	cfg     Config
	client  goopenai.ClientConfig
	dialect dialect
	local   bool // the server is on this machine
}

var _ llm.Adapter = (*Backend)(nil)

// New checks cfg and returns a backend. It makes no call.
func New(cfg Config) (*Backend, error) {
	cfg = cfg.withDefaults()
	host, err := cfg.validate()
	if err != nil {
		return nil, fmt.Errorf("backend %q: %w", cfg.ID, err)
	}
	client := goopenai.DefaultConfig(cfg.APIKey)
	client.BaseURL = cfg.BaseURL
	client.EmptyMessagesLimit = emptyLines
	local := loopback.Is(host)
	return &Backend{
		cfg: cfg, client: client, local: local,
		dialect: dialect{
			model:    cfg.Model,
			metadata: local || cfg.Store,
			store:    cfg.Store,
			openai:   host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com"),
		},
	}, nil
}

// ID implements llm.Adapter.
func (b *Backend) ID() string { return b.cfg.ID }

// Available returns nil if there is a key, or if the server is on this machine
// and may not need a key. It makes no call.
func (b *Backend) Available(context.Context) error {
	if b.cfg.APIKey != "" || b.local {
		return nil
	}
	return fmt.Errorf("no API key for %s: set OPENAI_API_KEY (any value for a server that needs none), "+
		"or OPENAI_BASE_URL to a server on this machine", b.cfg.BaseURL)
}

// Format prints id and base URL, with any verb, and never the key.
func (b *Backend) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s (%s)", b.cfg.ID, b.cfg.BaseURL)
}

// Complete answers req. Errors are *llm.Error, or the cause if ctx ended.
//
// Transient failures are repeated as Config.Retry defines, but never after
// req.OnText received text: the caller would see it twice.
func (b *Backend) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	wire := b.dialect.request(req)
	var retries []llm.Retry
	paused := 0
	for {
		if cause := clock.Err(ctx); cause != nil {
			return llm.Reply{}, cause
		}
		if b.cfg.Pacer != nil {
			if err := b.cfg.Pacer.Wait(ctx); err != nil {
				return llm.Reply{}, err
			}
		}
		try := &exchange{backend: b}
		reply, failed := try.run(ctx, wire, req.OnText)
		if failed == nil {
			reply.Retries = retries
			return reply, nil
		}
		if cause := clock.Err(ctx); cause != nil {
			return llm.Reply{}, cause
		}
		if paused < maxPauses && !try.final && b.pauses(failed) {
			if err := b.cfg.Pacer.Pause(ctx, failed.RetryAfter); err != nil {
				return llm.Reply{}, err
			}
			paused++
			retries = append(retries, llm.Retry{Kind: failed.Kind, Status: failed.Status, Wait: failed.RetryAfter})
			continue
		}
		wait, again := b.cfg.Retry.next(failed, len(retries)-paused)
		if !again || try.final {
			return llm.Reply{}, b.giveUp(failed, retries)
		}
		retries = append(retries, llm.Retry{Kind: failed.Kind, Status: failed.Status, Wait: wait})
		if err := b.cfg.Clock.Sleep(ctx, wait); err != nil {
			return llm.Reply{}, err
		}
	}
}

// giveUp completes the error of the last attempt.
func (b *Backend) giveUp(failed *llm.Error, retries []llm.Retry) *llm.Error {
	failed.Retries = retries
	if longest := b.cfg.Retry.Cap; failed.RetryAfter > longest {
		failed.Message += fmt.Sprintf(" (not waited for: longer than the cap of %s)", longest)
	}
	return failed
}

// redact removes the key from text of a server.
func (b *Backend) redact(text string) string {
	if b.cfg.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, b.cfg.APIKey, "[key]")
}
