package cli

import (
	"context"
	"io"
	"log/slog"

	"github.com/rehearse-dev/rehearse/agents/interview/web"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
)

// Logger returns a logger that writes text to a terminal and JSON elsewhere. quiet limits it to
// warnings and errors.
func Logger(w io.Writer, term console.Terminal, quiet bool) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if quiet {
		options.Level = slog.LevelWarn
	}
	if term != (console.Terminal{}) {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// Tracer returns a tracer that exports spans if the environment configures an endpoint. flush sends
// the remaining spans.
func Tracer(ctx context.Context, getenv func(string) string, system string, log *slog.Logger) (tracer web.Tracer, flush func(), err error) {
	warn := func(message string, err error) { log.Warn(message, "cause", err) }
	provider, flush, err := telemetry.Spans(ctx, getenv, "rehearse-interview", warn)
	return web.Tracer{Provider: provider, Clock: clock.Real(), System: system}, flush, err
}
