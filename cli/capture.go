package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

// captureFlags are the flags of capture.
type captureFlags struct {
	upstream string
	listen   string
	out      string
	model    string
	match    string
	frames   bool
	latency  bool
	keep     bool // secrets
	again    bool
	rebuild  bool
	quiet    bool
	hosts    []string
}

// tapeSuffix ends the file of captured exchanges beside a script.
const tapeSuffix = ".capture.jsonl"

func (a *app) captureCommand() *cobra.Command {
	var flags captureFlags
	cmd := &cobra.Command{
		Use:   "capture --upstream URL --out SCRIPT",
		Short: "Record the exchanges of an agent with a real backend, as a script",
		Long: `capture listens where an agent expects its provider, passes every request on to the real one and
every byte back at once, and writes a script that answers the same conversation again: for rehearse
mock, and for a scenario (backend: {script: FILE}). It speaks the protocols of OpenAI, Anthropic,
Gemini, Ollama and Bedrock's Converse. Secrets are replaced before anything is written, also those
that a stream splits into pieces; the agent's key is passed on and never stored.

Exchanges are saved beside the script (with ` + tapeSuffix + ` instead of .yaml), one per line, as
soon as they are complete. Ctrl-C writes the script; after a kill, --rebuild does. Answers without
a message and answers that were cut off are not kept.

Exit codes: 0 the script has all exchanges; 1 some are missing, or nothing was captured; 2 usage;
3 the proxy could not listen, or a file could not be written.`,
		Example: `  rehearse capture --upstream https://api.openai.com/v1 --out session.yaml
  OPENAI_BASE_URL=http://127.0.0.1:PORT/v1 my-agent          (with its own key)
  rehearse capture --upstream https://api.anthropic.com --out chat.yaml --frames
  rehearse mock session.yaml`,
		Args: arguments(0, 0, "capture takes no arguments: name the backend with --upstream and the script with --out"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.capture(cmd.Context(), flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.upstream, "upstream", "", "root of the real API, such as https://api.openai.com/v1")
	f.StringVarP(&flags.out, "out", "o", "", "script to write")
	f.StringVar(&flags.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.BoolVar(&flags.frames, "frames", false,
		"keep the pieces of each answer and the gaps between them, and let the script replay them byte for byte")
	f.BoolVar(&flags.latency, "latency", false, "give each answer in the script the time that it took")
	f.StringVar(&flags.match, "match", string(capture.ByText),
		"how the script recognises a request: by its text (turn and last user text), its turn alone, or its position")
	f.StringVarP(&flags.model, "model", "m", "", "the script's model (default: the one that answered)")
	f.BoolVar(&flags.again, "append", false, "continue an earlier capture of the same backend")
	f.BoolVar(&flags.rebuild, "rebuild", false, "only write the script again from the captured exchanges, as after a kill")
	f.BoolVar(&flags.keep, "no-redact", false, "do not replace secrets in the files")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not print a line for each exchange")
	hostFlag(f, &flags.hosts)
	complete(cmd, "match", namesOf(capture.Matchings())...)
	return cmd
}

// validate returns an error for missing and contradictory flags.
func (f *captureFlags) validate() error {
	switch {
	case f.out == "":
		return errors.New("--out is missing: name the script to write")
	case filepath.Ext(f.out) != ".yaml" && filepath.Ext(f.out) != ".yml":
		return fmt.Errorf("--out %s: a script's name ends in .yaml", f.out)
	case !slices.Contains(namesOf(capture.Matchings()), f.match):
		return notAmong("way to match", f.match, namesOf(capture.Matchings()))
	case f.rebuild && (f.upstream != "" || f.again):
		return errors.New("--rebuild captures nothing; omit --upstream and --append")
	}
	return loopback.CheckHosts(f.hosts)
}

// tape returns the file of captured exchanges beside the script.
func (f *captureFlags) tape() string {
	return strings.TrimSuffix(f.out, filepath.Ext(f.out)) + tapeSuffix
}

func (a *app) capture(ctx context.Context, flags captureFlags) error {
	if err := flags.validate(); err != nil {
		return usage(err)
	}
	if flags.rebuild {
		return a.writeScript(flags)
	}
	options := capture.Options{
		Upstream: flags.upstream, Offline: openai.FromEnv(a.getenv).Offline, Frames: flags.frames,
		Unredacted: flags.keep, Secrets: redact.SecretsIn(os.Environ()),
	}
	if err := options.Validate(); err != nil {
		return usage(err)
	}
	journal, err := a.journal(flags, options)
	if err != nil {
		return usage(err)
	}
	if flags.keep {
		fmt.Fprintln(a.stderr, "warning: secrets are kept (--no-redact); do not commit or send what is written")
	}
	err = a.serveCapture(ctx, flags, options, journal)
	if closing := journal.Close(); err == nil && closing != nil {
		err = noVerdict(closing)
	}
	if err != nil {
		return err
	}
	return a.writeScript(flags)
}

// journal creates the file of captured exchanges, or continues an earlier one.
func (a *app) journal(flags captureFlags, options capture.Options) (*capture.Journal, error) {
	header := tape.Header{
		Date: clock.Real().Now().UTC(), Version: toolVersion(), Upstream: options.Host(),
		Frames: flags.frames, Unredacted: flags.keep,
	}
	if flags.again {
		return capture.ContinueJournal(flags.tape(), header)
	}
	if _, err := os.Stat(flags.out); err == nil {
		return nil, fmt.Errorf("the script %s exists; choose another file with --out, or continue its capture with --append", flags.out)
	}
	journal, err := capture.CreateJournal(flags.tape(), header)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("the capture %s exists; continue it with --append, write its script again with --rebuild, or choose "+
			"another file with --out", flags.tape())
	}
	return journal, err
}

// serveCapture forwards requests until ctx ends.
func (a *app) serveCapture(ctx context.Context, flags captureFlags, options capture.Options, journal *capture.Journal) error {
	lines := loopback.NewLineWriter(a.stderr)
	var broken atomic.Bool
	options.First = journal.Next()
	options.Keep = func(x tape.Exchange) error {
		err := journal.Keep(x)
		switch {
		case err != nil:
			broken.Store(true)
			lines.Print("rehearse: " + sanitize.Line(err.Error(), 300))
		case x.Lost != "":
			lines.Print(fmt.Sprintf("%d %s not kept: %s", x.N, requestLine(&x), sanitize.Line(x.Lost, 300)))
		case !flags.quiet:
			lines.Print(fmt.Sprintf("%d %s %d, %d bytes%s", x.N, requestLine(&x), x.Status, len(x.Body), secrets(x.Redacted)))
		}
		return err
	}
	proxy, err := capture.New(options)
	if err != nil {
		return usage(err)
	}
	err = a.serve(ctx, flags.listen, loopback.RequireLocal(proxy, flags.hosts, nil, ""),
		"capturing; point an agent here with OPENAI_BASE_URL=%s, or "+baseVariables+"=%s, and its own key, and end with Ctrl-C")
	proxy.Wait()
	if err != nil {
		return noVerdict(err)
	}
	if broken.Load() {
		return noVerdict(errors.New("not all of the capture could be written; what could is in " + flags.tape()))
	}
	return nil
}

// requestLine returns the path of a request, after its method if that is not POST.
func requestLine(x *tape.Exchange) string {
	return strings.TrimSpace(sanitize.Line(x.Method, 10) + " " + sanitize.Line(x.Path, 60))
}

func secrets(redacted map[string]int) string {
	n := 0
	for _, count := range redacted {
		n += count
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", secrets replaced: %d", n)
}

// writeScript writes the script of the captured exchanges, and reports the ones that it cannot
// contain.
func (a *app) writeScript(flags captureFlags) error {
	t, err := capture.ReadJournal(flags.tape())
	if err != nil {
		return usage(err)
	}
	name := filepath.Base(flags.tape())
	options := capture.ScriptOptions{Model: flags.model, Matching: capture.Matching(flags.match), Latency: flags.latency, Media: name}
	if flags.frames {
		options.Tape = name
	}
	script, skipped := capture.Script(t, options)
	for _, s := range skipped {
		fmt.Fprintf(a.stderr, "not in the script: exchange %d: %s\n", s.N, sanitize.Line(s.Why, 500))
	}
	lines := len(script.Replies) + len(script.Rules)
	if lines == 0 {
		fmt.Fprintln(a.stderr, "nothing was captured that a script can answer; no script was written")
		return quiet(exitFail)
	}
	data, err := capture.Write(script, t, name)
	if err == nil {
		err = atomicdir.Replace(flags.out, data)
	}
	if err != nil {
		return noVerdict(err)
	}
	fmt.Fprintf(a.stderr, "%s: %s of %s; serve it with: rehearse mock %s\n", flags.out,
		format.Plural(lines, "line"), format.Plural(len(t.Exchanges)-len(skipped), "exchange"), flags.out)
	if len(skipped) > 0 {
		return quiet(exitFail)
	}
	return nil
}
