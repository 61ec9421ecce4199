package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// kept is how many exchanges and findings a standing server remembers.
const kept = 1000

// smallHeap is the garbage, in percent of what is in use, that a standing server
// lets grow. It lives beside the agent that it serves, and the tokenizer's
// vocabulary alone is 10 MB that twice as much garbage would come to.
const smallHeap = 20

// mockFlags are the flags of mock.
type mockFlags struct {
	listen string
	scale  float64
	seed   uint64
	quiet  bool
	hosts  []string
}

func (a *app) mockCommand() *cobra.Command {
	var flags mockFlags
	cmd := &cobra.Command{
		Use:   "mock SCRIPT",
		Short: "Serve a script to any client of OpenAI's or Anthropic's API",
		Long: `mock serves a script (or the backend of a scenario) over HTTP until it is interrupted, and then
prints which lines were not used and which calls were not expected. Latencies are real time.
It speaks OpenAI chat completions, OpenAI Responses and Anthropic Messages, told apart by the path
of a request. A request to any other path is reported, too.

It answers requests for this machine only: the Host header must be localhost, a loopback address or
the address that it listens on. Name others with --host. Requests that a web page of another origin
sends are refused.

Exit codes: 0 the script was kept to; 1 lines were left over, or a call was unexpected or invalid;
2 the script is wrong; 3 the server could not listen.`,
		Example: `  rehearse mock script.yaml --listen 127.0.0.1:8080
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=any my-agent
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=any my-agent`,
		Args: arguments(1, 1, "name one script, or one scenario"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.mock(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.Float64Var(&flags.scale, "time-scale", 1, "multiply the script's latencies by this; 0.001 all but removes them")
	f.Uint64Var(&flags.seed, "seed", 1, "seed of ids and jitter")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not print a line for each exchange")
	hostFlag(f, &flags.hosts)
	return cmd
}

func (a *app) mock(ctx context.Context, file string, flags mockFlags) error {
	if flags.scale <= 0 {
		return usage(fmt.Errorf("--time-scale %g: it must be more than 0", flags.scale))
	}
	if err := checkHosts(flags.hosts); err != nil {
		return usage(err)
	}
	script, diagnostics := scenarios.LoadScript(file, scenarios.Options{Kinds: agentKinds.Formats()})
	if err := diagnostics.Err(); err != nil {
		return usage(err)
	}
	program, err := mocks.Compile(script)
	if err != nil {
		return usage(err)
	}
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(smallHeap)
	}
	engine := mocks.NewEngine(program, mocks.EngineOptions{
		Clock: clock.Real(),
		Scale: flags.scale,
		Seed:  flags.seed,
		Count: token.NewCounter(token.Options{}).Count,
		Keep:  kept,
	})
	var server mocks.Server
	if err := server.Attach("", engine); err != nil {
		return noVerdict(err)
	}
	handler := fromThisMachine(&server, flags.hosts)
	if !flags.quiet {
		handler = a.logged(handler)
	}
	if err := a.serve(ctx, flags.listen, handler); err != nil {
		return noVerdict(err)
	}
	if err := server.Detach(context.WithoutCancel(ctx), ""); err != nil {
		return noVerdict(err)
	}
	return a.mockReport(engine.Report(), script.Lenient)
}

// serve answers clients of the scripted APIs until ctx ends.
func (a *app) serve(ctx context.Context, address string, handler http.Handler) error {
	return a.serveAt(ctx, address, handler, func(base string) {
		fmt.Fprintf(a.stderr, "serving; point a client here with OPENAI_BASE_URL=%s or ANTHROPIC_BASE_URL=%s, any key, and end with Ctrl-C\n",
			base, strings.TrimSuffix(base, "/v1"))
	})
}

// serveAt answers until ctx ends, once it has said where.
func (a *app) serveAt(ctx context.Context, address string, handler http.Handler, say func(base string)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w; choose another address with --listen", address, err)
	}
	base := "http://" + listener.Addr().String() + "/v1"
	fmt.Fprintf(a.stdout, "%s\n", base)
	say(base)
	if ip, ok := listener.Addr().(*net.TCPAddr); ok && !ip.IP.IsLoopback() {
		fmt.Fprintln(a.stderr, "warning: this address is open to other machines; clients that use a host name need --host NAME")
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve on %s: %w", address, err)
	case <-ctx.Done():
	}
	err = server.Close()
	if serving := <-ended; !errors.Is(serving, http.ErrServerClosed) {
		err = errors.Join(err, serving)
	}
	return err
}

// logged prints a line for each exchange.
func (a *app) logged(next http.Handler) http.Handler {
	logger := newLineWriter(a.stderr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &statusWriter{ResponseWriter: w}
		began := time.Now()
		defer func() {
			logger.print(fmt.Sprintf("%s %s %s in %s", sanitize.Line(r.Method, 10), sanitize.Line(r.URL.Path, 60),
				seen, time.Since(began).Round(time.Millisecond)))
		}()
		next.ServeHTTP(seen, r)
	})
}

// mockReport tells how client and script fitted each other.
func (a *app) mockReport(r mocks.Report, lenient bool) error {
	fmt.Fprintln(a.stderr, plural(r.Calls, "exchange"))
	bad := 0
	for _, list := range []struct {
		what  string
		lines []string
	}{
		{"not used", r.Unused},
		{"unexpected", r.Unexpected},
		{"invalid", r.Invalid},
		{"fault that never struck", r.Unfired},
	} {
		for _, line := range list.lines {
			bad++
			fmt.Fprintf(a.stderr, "%s: %s\n", list.what, sanitize.Line(line, 500))
		}
	}
	if bad > 0 && !lenient {
		return quiet(exitFail)
	}
	return nil
}
