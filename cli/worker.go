package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/loopback"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
	"github.com/rehearse-dev/rehearse/queue"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	address  string
	slots    int
	tags     []string
	name     string
	idleExit time.Duration
	metrics  string
}

func (a *app) workerCommand() *cobra.Command {
	var flags workerFlags
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run trials for rehearse run --queue",
		Long: `worker takes trials from a queue (a PostgreSQL database), runs them and stores their results there.
Any number of workers on any number of machines share the trials of a run; they may be started,
stopped and killed at any time. The run writes the recording and the reports, on its own machine.

Start the worker in the same folder of the same commit as the run, with the same build of this
program: a worker whose scenario files differ does not take part, and logs the reason. It calls agents
with its own environment: nothing secret is in the queue. Live models (run --live) need their keys here;
REHEARSE_OFFLINE=1 keeps the worker out of such runs.

--metrics serves /metrics for Prometheus (trials by verdict, jobs, errors of the database), /healthz (fails
if the worker is stuck) and /readyz (fails while the database does not hear of it). OTEL_* variables, such
as OTEL_EXPORTER_OTLP_ENDPOINT, export a span for each job.

--tag names what this machine has. A container agent needs docker; a scenario tagged needs-gpu
needs gpu. Ctrl-C gives the running trials back; once more ends at once.

Exit codes:
  0    ended by --idle-exit
  2    usage, or the queue cannot be opened
  3    the queue failed
  130  interrupted`,
		Example: `  rehearse worker --queue postgres://rehearse@db.example.com/rehearse
  rehearse worker --slots 8 --tag docker,gpu --idle-exit 10m
  rehearse worker --metrics 127.0.0.1:9464`,
		Args: arguments(0, 0, "worker takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.work(cmd.Context(), &flags) },
	}
	f := cmd.Flags()
	queueFlag(f, &flags.address)
	f.IntVarP(&flags.slots, "slots", "s", runtime.GOMAXPROCS(0), "number of jobs at once")
	f.StringSliceVar(&flags.tags, "tag", nil, "`tags` of this machine, such as docker,gpu")
	f.StringVar(&flags.name, "name", "", "a name for rehearse queue (default: the host's)")
	f.DurationVar(&flags.idleExit, "idle-exit", 0, "end when there was no run for this time, such as 10m")
	f.StringVar(&flags.metrics, "metrics", "", "serve metrics and health checks on this `address`, such as 127.0.0.1:9464")
	return cmd
}

// queueFlag adds --queue.
func queueFlag(f *pflag.FlagSet, address *string) {
	f.StringVar(address, "queue", "", "the queue: `postgres://user@host/database` (default: $"+queueVariable+")")
}

// openQueue opens the queue of --queue.
func (a *app) openQueue(ctx context.Context, flag string, connections int) (*queue.Store, error) {
	address := cmp.Or(flag, a.getenv(queueVariable))
	if address == "" {
		return nil, usage(errors.New("which queue? Give --queue postgres://user@host/database, or set " + queueVariable))
	}
	store, err := queue.Open(ctx, address, connections)
	if err != nil {
		return nil, usage(err)
	}
	return store, nil
}

func (a *app) work(ctx context.Context, flags *workerFlags) error {
	switch {
	case flags.slots < 1 || flags.slots > 10_000:
		return usage(fmt.Errorf("--slots must be from 1 to 10000, got %d", flags.slots))
	case flags.idleExit < 0:
		return usage(fmt.Errorf("--idle-exit must be at least 0, got %s", flags.idleExit))
	}
	for _, tag := range flags.tags {
		if !plainName(tag) {
			return usage(fmt.Errorf("--tag: %.100q is not a tag; write lower-case letters, digits, \".\", \"_\" and \"-\"", tag))
		}
	}
	if flags.name != "" && !plainName(flags.name) {
		return usage(fmt.Errorf("--name: %.100q is not a name; write lower-case letters, digits, \".\", \"_\" and \"-\"", flags.name))
	}
	program, err := programDigest()
	if err != nil {
		return usage(err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	store, err := a.openQueue(ctx, flags.address, flags.slots+4)
	if err != nil {
		return err
	}
	defer store.Close()
	metrics := queue.NewMetrics(clock.Real())
	end, err := a.serveMetrics(ctx, flags.metrics, metrics)
	if err != nil {
		return usage(err)
	}
	defer end()
	spans, flush, err := a.spans(ctx, "rehearse-worker")
	if err != nil {
		return usage(err)
	}
	defer flush()
	err = store.Work(ctx, queue.WorkerOptions{
		Program: program, Slots: flags.slots, Tags: flags.tags, Name: flags.name, Host: host, PID: os.Getpid(),
		IdleExit: flags.idleExit, Prepare: a.prepareRun, Clock: clock.Real(), Log: a.fleetLog(), Metrics: metrics, Spans: spans,
	})
	switch {
	case err != nil:
		return noVerdict(err)
	case ctx.Err() != nil:
		return quiet(exitInterrupted)
	}
	return nil
}

// serveMetrics serves the metrics of a worker until end is called, if there is an address.
func (a *app) serveMetrics(ctx context.Context, address string, metrics *queue.Metrics) (end func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := loopback.ListenAs("--metrics", address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // until the jobs are given back
	ended := make(chan error, 1)
	go func() {
		ended <- loopback.Serve(ctx, listener, metrics.Handler(), func(string, bool) {
			fmt.Fprintf(a.stderr, "metrics are at http://%s/metrics\n", listener.Addr())
		})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Fprintf(a.stderr, "warning: %v\n", err)
		}
	}, nil
}

// spans returns a provider that exports spans as the environment asks for it; nil if it does not.
func (a *app) spans(ctx context.Context, service string) (trace.TracerProvider, func(), error) {
	return telemetry.Spans(ctx, a.getenv, service, func(message string, err error) {
		fmt.Fprintf(a.stderr, "warning: %s: %v\n", message, err)
	})
}

// plainName reports whether a name has lower-case letters, digits, ".", "_" and "-" only.
func plainName(name string) bool {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	return name != "" && len(name) <= 60 && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0
}
