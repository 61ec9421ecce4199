package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/queue"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// queueFlags are the flags of queue.
type queueFlags struct {
	address string
	asJSON  bool
}

func (a *app) queueCommand() *cobra.Command {
	var flags queueFlags
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Show the runs and workers of a queue",
		Long: `queue lists the runs of rehearse run --queue and the workers of a queue. A run is running, stopped
(it can be resumed), lost (running, but its machine is silent: it can be resumed), cancelled or done.

Exit codes:
  0    done
  2    usage: there is no such run, or the queue cannot be opened
  3    the queue could not be read or written`,
		Example: `  rehearse queue --queue postgres://rehearse@db.example.com/rehearse
  rehearse queue --json | jq '.workers[].running'
  rehearse queue cancel 1f2e3d4c5b6a7988-k3q2zw`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showQueue(cmd.Context(), &flags) },
	}
	queueFlag(cmd.Flags(), &flags.address)
	jsonFlag(cmd.Flags(), &flags.asJSON, "the runs and workers")
	cmd.AddCommand(a.queueCancelCommand(), a.queuePruneCommand())
	return cmd
}

func (a *app) queueCancelCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "cancel RUN",
		Short: "End a run for good",
		Long: `cancel ends a run: its workers abandon their trials, its results are removed from the queue, and its
command reports the trials that it has, without a verdict.

Exit codes:
  0    the run is cancelled
  2    usage: there is no such run, or the queue cannot be opened
  3    the queue could not be read or written`,
		Example: "  rehearse queue cancel 1f2e3d4c5b6a7988-k3q2zw",
		Args:    arguments(1, 1, "name the run, as rehearse queue shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			store, err := a.openQueue(cmd.Context(), address, 1)
			if err != nil {
				return err
			}
			defer store.Close()
			return queueError(store.Cancel(cmd.Context(), args[0]))
		},
	}
	queueFlag(cmd.Flags(), &address)
	return cmd
}

func (a *app) queuePruneCommand() *cobra.Command {
	var address string
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs",
		Long: `prune removes the runs that have ended, or whose command was last heard of, longer ago than --older.

Exit codes:
  0    done, even if no run is that old
  2    usage, or the queue cannot be opened
  3    the queue could not be read or written`,
		Example: "  rehearse queue prune --older 24h",
		Args:    arguments(0, 0, "queue prune takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if older < time.Minute {
				return usage(fmt.Errorf("--older must be at least 1m, got %s", older))
			}
			store, err := a.openQueue(cmd.Context(), address, 1)
			if err != nil {
				return err
			}
			defer store.Close()
			removed, err := store.Prune(cmd.Context(), older)
			if err == nil {
				_, err = fmt.Fprintf(a.stdout, "removed %s\n", format.Plural(removed, "run"))
			}
			return queueError(err)
		},
	}
	queueFlag(cmd.Flags(), &address)
	cmd.Flags().DurationVar(&older, "older", 7*24*time.Hour, "the age of what is removed, such as 24h")
	return cmd
}

// queueError gives an error of a queue its exit code.
func queueError(err error) error {
	if _, ok := errors.AsType[*queue.UsageError](err); ok {
		return usage(err)
	}
	if err != nil {
		return noVerdict(err)
	}
	return nil
}

// showQueue prints the runs and workers of a queue.
func (a *app) showQueue(ctx context.Context, flags *queueFlags) error {
	store, err := a.openQueue(ctx, flags.address, 1)
	if err != nil {
		return err
	}
	defer store.Close()
	status, err := store.Status(ctx)
	if err != nil {
		return noVerdict(err)
	}
	return a.showPast(document{queueDocument(&status), status, ""}, flags.asJSON)
}

// queueDocument shows the runs and workers of a queue.
func queueDocument(status *queue.Status) doc.Document {
	d := doc.Document{Kind: "Queue", Summary: doc.Line(
		format.Plural(len(status.Runs), "run"), ", ", format.Plural(len(status.Workers), "worker"))}
	runs := doc.Table{Columns: []doc.Column{
		{Head: doc.Line("run")},
		{Head: doc.Line("state")},
		{Head: doc.Line("done"), Right: true},
		{Head: doc.Line("jobs"), Right: true},
		{Head: doc.Line("running"), Right: true},
		{Head: doc.Line("deaths"), Right: true},
		{Head: doc.Line("USD"), Right: true},
		{Head: doc.Line("heard of"), Right: true},
	}}
	for i := range status.Runs {
		r := &status.Runs[i]
		runs.Rows = append(runs.Rows, []doc.Text{
			doc.Line(r.Key), doc.Line(r.State), doc.Line(fmt.Sprintf("%d/%d", r.Done, r.Trials)), doc.Line(fmt.Sprint(r.Issued)),
			doc.Line(fmt.Sprint(r.Running)), doc.Line(fmt.Sprint(r.Deaths)), doc.Line(format.Money(r.SpentUSD)), doc.Line(ago(r.Silent)),
		})
	}
	workers := doc.Table{Columns: []doc.Column{
		{Head: doc.Line("worker")},
		{Head: doc.Line("running"), Right: true},
		{Head: doc.Line("slots"), Right: true},
		{Head: doc.Line("tags")},
		{Head: doc.Line("program")},
		{Head: doc.Line("heard of"), Right: true},
	}}
	for i := range status.Workers {
		w := &status.Workers[i]
		workers.Rows = append(workers.Rows, []doc.Text{
			doc.Line(doc.Quote(w.ID)), doc.Line(fmt.Sprint(w.Running)), doc.Line(fmt.Sprint(w.Slots)),
			doc.Line(doc.Quote(strings.Join(w.Tags, ","))), doc.Line(doc.Quote(w.Program[:min(len(w.Program), 12)])), doc.Line(ago(w.Silent)),
		})
	}
	for _, t := range []doc.Table{runs, workers} {
		if len(t.Rows) > 0 {
			d.Body = append(d.Body, t)
		}
	}
	return d
}

// ago describes how long ago something was, in seconds.
func ago(seconds float64) string { return format.Seconds(max(0, seconds)) + " ago" }
