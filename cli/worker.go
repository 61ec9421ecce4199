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

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/queue"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	address  string
	slots    int
	tags     []string
	name     string
	idleExit time.Duration
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
with its own environment: nothing secret is in the queue.

--tag names what this machine has. A container agent needs docker; a scenario tagged needs-gpu
needs gpu. Ctrl-C gives the running trials back; once more ends at once.

Exit codes:
  0    ended by --idle-exit
  2    usage, or the queue cannot be opened
  3    the queue failed
  130  interrupted`,
		Example: `  rehearse worker --queue postgres://rehearse@db.example.com/rehearse
  rehearse worker --slots 8 --tag docker,gpu --idle-exit 10m`,
		Args: arguments(0, 0, "worker takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.work(cmd.Context(), &flags) },
	}
	f := cmd.Flags()
	queueFlag(f, &flags.address)
	f.IntVarP(&flags.slots, "slots", "s", runtime.GOMAXPROCS(0), "number of jobs at once")
	f.StringSliceVar(&flags.tags, "tag", nil, "`tags` of this machine, such as docker,gpu")
	f.StringVar(&flags.name, "name", "", "a name for rehearse queue (default: the host's)")
	f.DurationVar(&flags.idleExit, "idle-exit", 0, "end when there was no run for this time, such as 10m")
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
	err = store.Work(ctx, queue.WorkerOptions{
		Program: program, Slots: flags.slots, Tags: flags.tags, Name: flags.name, Host: host, PID: os.Getpid(),
		IdleExit: flags.idleExit, Prepare: a.prepareRun, Clock: clock.Real(), Log: a.fleetLog(),
	})
	switch {
	case err != nil:
		return noVerdict(err)
	case ctx.Err() != nil:
		return quiet(exitInterrupted)
	}
	return nil
}

// plainName reports whether a name has lower-case letters, digits, ".", "_" and "-" only.
func plainName(name string) bool {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '_' || r == '-'
	}
	return name != "" && len(name) <= 60 && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0
}
