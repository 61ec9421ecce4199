package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// maxRemembered limits the exchanges and findings that a server remembers.
const maxRemembered = 1000

// mockFlags are the flags of mock.
type mockFlags struct {
	listen string
	scale  float64
	seed   uint64
	quiet  bool
	hosts  []string
	// origins are those of web pages that may call the server.
	origins []string
	// relax and strict are the rules that the server does not apply, and the optional ones that it applies; they replace
	// the choice of the script.
	relax, demand []string
}

func (a *app) mockCommand() *cobra.Command {
	var flags mockFlags
	cmd := &cobra.Command{
		Use:   "mock SCRIPT",
		Short: "Serve a script to any client of OpenAI, Anthropic, Gemini, Ollama or Bedrock",
		Long: `mock serves a script (or the backend of a scenario) over HTTP until it is interrupted, and then
prints which lines were not used and which calls were not expected. Latencies are real time.
It speaks OpenAI chat completions and Responses, Anthropic Messages, Gemini, Ollama and Amazon
Bedrock's Converse, chosen by the path of a request: also by the paths of Azure OpenAI, Vertex AI,
Groq and OpenRouter. It also serves embeddings, moderations, images, audio, files and batches. A
request to any other path is reported, too.

It answers requests for this machine only: the Host header must be localhost, a loopback address or
the address that it listens on. Name others with --host. Requests that a web page of another origin
sends are refused, unless --cors names the origin.

Exit codes: 0 the script was followed; 1 lines were left over, or a call was unexpected or invalid;
2 the script is wrong; 3 the server could not listen.`,
		Example: `  rehearse mock script.yaml --listen 127.0.0.1:8080
  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=any my-agent
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=any my-agent
  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:8080 GEMINI_API_KEY=any my-agent
  OLLAMA_HOST=http://127.0.0.1:8080 my-agent
  rehearse mock script.yaml --demand missing-key,unknown-model`,
		Args: arguments(1, 1, "name one script, or one scenario"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.mock(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.Float64Var(&flags.scale, "time-scale", 1, "multiply the script's latencies by this; 0.001 all but removes them")
	f.Uint64Var(&flags.seed, "seed", 1, "seed of ids and jitter")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not print a line for each exchange")
	hostFlag(f, &flags.hosts)
	f.StringSliceVar(&flags.relax, "relax", nil, "do not apply this `RULE` of the provider, such as unknown-parameter, to requests")
	f.StringSliceVar(&flags.demand, "demand", nil,
		"apply this optional `RULE` of the provider to requests, as strict: in a script does: "+strings.Join(wire.OptionalRules(), ", "))
	f.StringSliceVar(&flags.origins, "cors", nil, "let web pages of this `ORIGIN` call the server, such as http://localhost:5173")
	return cmd
}

func (a *app) mock(ctx context.Context, file string, flags mockFlags) error {
	if flags.scale <= 0 {
		return usage(fmt.Errorf("--time-scale must be more than 0, got %g", flags.scale))
	}
	if err := loopback.CheckHosts(flags.hosts); err != nil {
		return usage(err)
	}
	if err := loopback.CheckOrigins(flags.origins); err != nil {
		return usage(err)
	}
	script, diagnostics := scenarios.LoadScript(file, scenarios.Options{Kinds: a.kinds.Formats()})
	if err := diagnostics.Err(); err != nil {
		return usage(err)
	}
	flags.choose(&script)
	program, err := mocks.Compile(script)
	if err != nil {
		return usage(err)
	}
	engine := mocks.NewEngine(program, mocks.EngineOptions{
		Clock: clock.Real(),
		Scale: flags.scale,
		Seed:  flags.seed,
		Count: token.NewCounter(token.Options{}).Count,
		Keep:  maxRemembered,
	})
	var server mocks.Server
	if err := server.Attach("", engine); err != nil {
		return noVerdict(err)
	}
	handler := loopback.RequireLocal(&server, flags.hosts, flags.origins, "; allow one with --cors ORIGIN")
	if !flags.quiet {
		handler = loopback.LogExchanges(a.stderr, time.Now, handler)
	}
	advice := "serving; point a client here with OPENAI_BASE_URL=%s, or " + baseVariables + "=%s, with " + keyAdvice(&script) +
		", and end with Ctrl-C"
	if err := a.serve(ctx, flags.listen, handler, advice); err != nil {
		return noVerdict(err)
	}
	if err := server.Detach(context.WithoutCancel(ctx), ""); err != nil {
		return noVerdict(err)
	}
	return a.mockReport(engine.Report(), script.Lenient)
}

// choose adds the rules of the flags to those of a script. A flag replaces what the script says about the same rule.
func (f *mockFlags) choose(s *mocks.Script) {
	s.Relax, s.Strict = without(s.Relax, f.demand), without(s.Strict, f.relax)
	s.Relax, s.Strict = append(s.Relax, f.relax...), append(s.Strict, f.demand...)
}

// without returns the names that are not in others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// baseVariables are the variables for the address without /v1.
const baseVariables = "ANTHROPIC_BASE_URL, GOOGLE_GEMINI_BASE_URL or OLLAMA_HOST"

// keyAdvice describes the key that clients must have.
func keyAdvice(s *mocks.Script) string {
	if slices.Contains(s.Strict, "missing-key") {
		return "a key, whatever it is"
	}
	return "any key or none"
}

// serve answers clients of the scripted APIs until ctx ends. It prints its address and advice,
// in which %s stands for the base URL of OpenAI's clients, and then for that of others.
func (a *app) serve(ctx context.Context, address string, handler http.Handler, advice string) error {
	listener, err := loopback.Listen(address)
	if err != nil {
		return usage(err) // nothing was served
	}
	return loopback.Serve(ctx, listener, handler, func(base string, public bool) {
		fmt.Fprintln(a.stdout, base)
		fmt.Fprintf(a.stderr, advice+"\n", base, strings.TrimSuffix(base, "/v1"))
		if public {
			fmt.Fprintln(a.stderr, "warning: this address is open to other machines; clients that use a host name need --host NAME")
		}
	})
}

// hostFlag adds the flag that names further hosts for requireLocal.
func hostFlag(f *pflag.FlagSet, hosts *[]string) {
	f.StringSliceVar(hosts, "host", nil,
		"also answer requests whose Host header has this name, such as host.docker.internal (default: only names of this machine)")
}

// mockReport prints how far the client followed the script.
func (a *app) mockReport(r mocks.Report, lenient bool) error {
	fmt.Fprintln(a.stderr, format.Plural(r.Calls, "exchange"))
	bad := 0
	for _, list := range []struct {
		what  string
		lines []string
	}{
		{"not used", r.Unused},
		{"unexpected", r.Unexpected},
		{"invalid", r.Invalid},
		{"fault that never fired", r.Unfired},
	} {
		for _, line := range list.lines {
			bad++
			fmt.Fprintf(a.stderr, "%s: %s\n", list.what, sanitize.Line(line, 500))
		}
	}
	for _, line := range r.Warnings {
		fmt.Fprintf(a.stderr, "warning: %s\n", sanitize.Line(line, 500))
	}
	if bad > 0 && !lenient {
		return quiet(exitFail)
	}
	return nil
}
