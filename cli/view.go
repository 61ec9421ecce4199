package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	interviewcli "github.com/rehearse-dev/rehearse/agents/interview/cli"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/view"
)

// recordingName is the name of a recording in the folder of a run.
const recordingName = "recording.jsonl"

// viewFlags are the flags of view.
type viewFlags struct {
	history string
	serving viewServing
}

// viewServing are the flags of a server of pages.
type viewServing struct {
	listen string
	hosts  []string
	noOpen bool
}

func (v *viewServing) register(f *pflag.FlagSet) {
	f.StringVar(&v.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 takes a free one")
	f.StringSliceVar(&v.hosts, "host", nil, "a further name by which requests may address this server")
	f.BoolVar(&v.noOpen, "no-open", false, "do not open a browser on a terminal")
}

func (a *app) viewCommand() *cobra.Command {
	var flags viewFlags
	cmd := &cobra.Command{
		Use:   "view [RUN | FOLDER...]",
		Short: "Show runs in a browser: lists, transcripts, comparisons, trends, runs in progress",
		Long: `view serves the runs of the history as web pages on this machine until Ctrl-C, with the runs in
progress in ` + runsFolder + `. It prints an address with a token, without which nothing is served, and opens
it in a browser on a terminal with a display. The token is random, or that of REHEARSE_TOKEN.

RUN is the page to begin with: latest, latest~1, branch:NAME, the id of a run or a commit. FOLDERs are
shown instead of the history: runs of other machines, for example. Each is read once.

The pages work without JavaScript, load nothing from elsewhere and change nothing. /metrics has
metrics for Prometheus; it needs the token as well (Authorization: Bearer). OTEL_* variables, such as
OTEL_EXPORTER_OTLP_ENDPOINT, export a span for each page.

Exit codes:
  0    ended by Ctrl-C or SIGTERM
  2    usage; there is no such run or history; or the address is in use
  3    the history, or a recording, could not be read`,
		Example: `  rehearse view
  rehearse view latest
  rehearse view rehearse-runs/before downloaded/run-42
  rehearse view --history postgres://ci@db/rehearse --listen 127.0.0.1:8090`,
		ValidArgsFunction: completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.serveView(cmd.Context(), args, &flags)
		},
	}
	historyFlag(cmd.Flags(), &flags.history)
	flags.serving.register(cmd.Flags())
	return cmd
}

// serveView serves until ctx ends.
func (a *app) serveView(ctx context.Context, args []string, flags *viewFlags) error {
	opts, err := a.viewOptions(flags.history, flags.serving.hosts)
	if err != nil {
		return err
	}
	var path string
	switch isFolder := len(args) > 0 && isThere(args[0]); {
	case isFolder:
		if path, err = a.viewFolders(ctx, &opts, args); err != nil {
			return err
		}
	case len(args) > 1:
		return usage(fmt.Errorf("view one run of the history, or folders; %s is not a folder", args[0]))
	default:
		if path, err = a.checkPast(ctx, flags.history, args); err != nil {
			return err
		}
	}
	spans, flush, err := a.spans(ctx, "rehearse-view")
	if err != nil {
		return usage(err)
	}
	defer flush()
	opts.Spans = spans
	server, err := view.New(opts)
	if err != nil {
		return noVerdict(err)
	}
	listener, err := loopback.Listen(flags.serving.listen)
	if err != nil {
		return usage(err)
	}
	a.announceView(ctx, listener, &opts, path, flags.serving.noOpen)
	if err := server.Serve(ctx, listener); err != nil {
		return noVerdict(err)
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// viewOptions returns the options of a server with the history of a flag.
func (a *app) viewOptions(historyFlag string, hosts []string) (view.Options, error) {
	token, err := interviewcli.Token(a.getenv, "")
	if err == nil {
		err = loopback.CheckHosts(hosts)
	}
	if err != nil {
		return view.Options{}, usage(err)
	}
	address := a.historyAddress(historyFlag)
	return view.Options{
		Language: a.language, Runs: runsFolder, Token: cmp.Or(token, rand.Text()), Hosts: hosts, Tool: tool(),
		History: func(ctx context.Context) (view.History, error) {
			if address == "" {
				return nil, nil
			}
			st, err := store.OpenExisting(ctx, address, time.Now)
			if errors.Is(err, store.ErrNone) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			return st, nil
		},
	}, nil
}

// checkPast checks that the history can be read, and returns the page of a run in it. No history is an
// error only where one was named: the first run may be in progress.
func (a *app) checkPast(ctx context.Context, address string, args []string) (string, error) {
	st, err := a.openHistory(ctx, address)
	if err != nil {
		if len(args) == 0 && address == "" && (errors.Is(err, store.ErrNone) || a.historyAddress(address) == "") {
			return "/", nil
		}
		return "", err
	}
	defer closeHistory(st)
	if len(args) == 0 {
		return "/", nil
	}
	run, err := findRun(ctx, st, args[0])
	if err != nil {
		return "", err
	}
	return "/runs/" + run.ID, nil
}

// viewFolders reads the runs in folders into a history in memory. Those in progress are followed.
func (a *app) viewFolders(ctx context.Context, opts *view.Options, folders []string) (string, error) {
	st, err := store.Open(ctx, "memory:", time.Now)
	if err != nil {
		return "", noVerdict(err)
	}
	opts.Runs = ""
	path := "/"
	for _, folder := range folders {
		if rundir.Unfinished(folder) {
			opts.Follow = append(opts.Follow, folder)
			path = view.LivePath(folder)
			continue
		}
		recording, err := rundir.FindEntry(folder)
		if err != nil {
			return "", usage(err)
		}
		if recording == folder && filepath.Base(recording) != recordingName {
			return "", usage(fmt.Errorf("view %s: name the folder of a run, with a file %s", recording, recordingName))
		}
		e, err := rundir.ReadEntry(ctx, recording, a.language)
		if err != nil {
			return "", recordingError(ctx, fmt.Errorf("view %s: %w", folder, err))
		}
		if _, err := st.Add(ctx, &e, false); err != nil {
			return "", noVerdict(err)
		}
		path = "/runs/" + e.ID
	}
	if len(folders) > 1 {
		path = "/"
	}
	opts.History = func(context.Context) (view.History, error) { return keptOpen{st}, nil }
	return path, nil
}

// keptOpen is a history in memory, which must not be closed between requests.
type keptOpen struct{ *store.Store }

// Close implements view.History.
func (keptOpen) Close() error { return nil }

// announceView prints the address of a page, and opens it where that is possible.
func (a *app) announceView(ctx context.Context, listener net.Listener, opts *view.Options, path string, noOpen bool) {
	address := "http://" + listener.Addr().String() + path + "?token=" + opts.Token
	fmt.Fprintln(a.stdout, address)
	fmt.Fprintln(a.stderr, "open this address in a browser; end with Ctrl-C")
	if ip, ok := listener.Addr().(*net.TCPAddr); ok && !ip.IP.IsLoopback() {
		fmt.Fprintln(a.stderr, "warning: this address is open to other machines, and the connection is not encrypted; "+
			"allow the names that they use with --host")
	}
	if !noOpen && a.terminal().Live {
		a.openBrowser(ctx, address)
	}
}

// openBrowser opens an address in the user's browser if there is a display. It is a convenience: the
// address has been printed.
func (a *app) openBrowser(ctx context.Context, address string) {
	var cmd *exec.Cmd
	switch runtime.GOOS {
	case "darwin":
		cmd = exec.CommandContext(ctx, "open", address)
	case "windows":
		cmd = exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", address)
	default:
		if a.firstOf("DISPLAY", "WAYLAND_DISPLAY") == "" {
			return
		}
		cmd = exec.CommandContext(ctx, "xdg-open", address)
	}
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}

// The values of run --view.
const (
	viewAuto = "auto"
	viewEnd  = "end"
	viewStay = "stay"
)

// viewMode is the value of run --view; empty without the flag.
type viewMode string

func viewModeFlag(cmd *cobra.Command, mode *viewMode) {
	cmd.Flags().Var(mode, "view", "show the run in a browser while it runs; `until` it ends (end), until Ctrl-C (stay), "+
		"or on a terminal until Ctrl-C (alone)")
	cmd.Flags().Lookup("view").NoOptDefVal = viewAuto
	complete(cmd, "view", viewEnd, viewStay)
}

// String implements pflag.Value.
func (m *viewMode) String() string { return string(*m) }

// Type implements pflag.Value.
func (m *viewMode) Type() string { return "until" }

// Set implements pflag.Value.
func (m *viewMode) Set(text string) error {
	switch text {
	case viewAuto, viewEnd, viewStay:
		*m = viewMode(text)
		return nil
	}
	return fmt.Errorf("%q is not one of %s", text, strings.Join([]string{viewEnd, viewStay}, ", "))
}

// viewing is the server of run --view. A nil one does nothing.
type viewing struct {
	stay bool
	end  context.CancelFunc
	done chan error
}

// beginViewing serves the run that writes to a folder.
func (a *app) beginViewing(ctx context.Context, mode viewMode, historyFlag, folder string) (*viewing, error) {
	if mode == "" {
		return nil, nil
	}
	opts, err := a.viewOptions(historyFlag, nil)
	if err != nil {
		return nil, err
	}
	opts.Follow = []string{folder}
	server, err := view.New(opts)
	if err != nil {
		return nil, noVerdict(err)
	}
	listener, err := loopback.Listen("127.0.0.1:0")
	if err != nil {
		return nil, usage(err)
	}
	terminal := a.terminal().Live
	v := &viewing{stay: mode == viewStay || mode == viewAuto && terminal, done: make(chan error, 1)}
	ctx, v.end = context.WithCancel(ctx)
	fmt.Fprintf(a.stderr, "view this run: http://%s%s?token=%s\n", listener.Addr(), view.LivePath(folder), opts.Token)
	if terminal {
		a.openBrowser(ctx, "http://"+listener.Addr().String()+view.LivePath(folder)+"?token="+opts.Token)
	}
	go func() { v.done <- server.Serve(ctx, listener) }()
	return v, nil
}

// finish ends the server: at once, or after Ctrl-C if it is to stay.
func (v *viewing) finish(ctx context.Context, a *app) {
	if v == nil {
		return
	}
	if v.stay && ctx.Err() == nil {
		fmt.Fprintln(a.stderr, "the pages stay until Ctrl-C")
		<-ctx.Done()
	}
	v.end()
	if err := <-v.done; err != nil {
		fmt.Fprintf(a.stderr, "warning: %v\n", err)
	}
}
