package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/shard"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// shardFlag is the value of --shard.
type shardFlag struct{ shard.Part }

// Type implements pflag.Value.
func (*shardFlag) Type() string { return "i/n" }

// Set implements pflag.Value.
func (v *shardFlag) Set(text string) (err error) {
	if of, ok := strings.CutPrefix(text, "job/"); ok {
		index, err := strconv.Atoi(os.Getenv(jobIndex))
		if err != nil {
			return errors.New("job/n is for the pods of an Indexed Job of Kubernetes, but " + jobIndex + " is not a number here")
		}
		text = fmt.Sprintf("%d/%s", index+1, of)
	}
	v.Part, err = shard.Parse(text)
	return err
}

// jobIndex names the variable with the number, from 0, of a pod of an Indexed Job of Kubernetes.
const jobIndex = "JOB_COMPLETION_INDEX"

// take returns the scenarios of the shard, and the plan of all. Without the flag it returns the
// set, and no plan.
func (v shardFlag) take(set []scenarios.Scenario) ([]scenarios.Scenario, []record.Planned, error) {
	if v.Of == 0 {
		return set, nil, nil
	}
	if v.Of > len(set) {
		return nil, nil, fmt.Errorf("--shard %s: with %s selected, some shards would run nothing; use at most %s",
			v, format.Plural(len(set), "scenario"), format.Plural(len(set), "shard"))
	}
	items := make([]shard.Item, len(set))
	for i, sc := range set {
		items[i] = shard.Item{Name: sc.Name, Trials: sc.Trials}
	}
	plan := shard.Plan(items, v.Of)
	var own []scenarios.Scenario
	for i, p := range plan {
		if p.Shard == v.Index {
			own = append(own, set[i])
		}
	}
	return own, plan, nil
}

// mergeFlags are the flags of merge.
type mergeFlags struct {
	out      string
	baseline string
	history  string
	sign     string
	html     bool
	shown    showing
}

func (a *app) mergeCommand() *cobra.Command {
	var flags mergeFlags
	cmd := &cobra.Command{
		Use:   "merge RUN...",
		Short: "Merge the shards of a run into one report",
		Long: `merge combines the recordings of run --shard, in any order, and writes the recording and the
reports of the whole run: for agents in virtual time the same bytes as one run, except for the date in
the page. It does not start any agent. The merged run is added to the history; shards are not.

Shards of different runs are refused: their scenarios, files, options, labels, prices and programs
must be the same. So are a shard that is given twice, and missing shards or trials, which are named.

Exit codes:
  0    every scenario passed
  1    a scenario failed, or a recording was changed
  2    usage: a shard is missing, incomplete, given twice or of another run; nothing was written
  3    no verdict: a scenario has an error, or the result is unknown
  130  interrupted; nothing was written`,
		Example: `  rehearse run --shard 1/2 --out shard-1
  rehearse run --shard 2/2 --out shard-2
  rehearse merge shard-1 shard-2 --out merged
  rehearse merge shards/* --baseline`,
		Args:              arguments(1, 10_000, "name the folders of all shards"),
		ValidArgsFunction: completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.merge(cmd.Context(), args, flags) },
	}
	f := cmd.Flags()
	outFolderFlag(f, &flags.out)
	baselineFlag(f, &flags.baseline)
	historyFlag(f, &flags.history)
	signFlag(f, &flags.sign)
	f.BoolVar(&flags.html, "html", true, "write report.html, the page for a browser")
	flags.shown.register(cmd)
	return cmd
}

func (a *app) merge(ctx context.Context, folders []string, flags mergeFlags) error {
	against, err := openBaseline(flags.baseline, folders)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if _, err := rundir.FindRecording(folder); err != nil {
			return usage(err)
		}
	}
	var out *atomicdir.Folder
	open := func() (*atomicdir.Folder, error) {
		var err error
		if out, err = a.openFolder(flags.out); err != nil {
			return nil, usage(err) // nothing was written
		}
		return out, nil
	}
	past, err := a.beginPast(ctx, flags.history, flags.out, history.Merged, nil)
	if err != nil {
		return err
	}
	if err := a.beginSigning(ctx, flags.sign, &past); err != nil {
		return err
	}
	defer past.key.Close()
	began := time.Now()
	report, sink, err := rundir.Merge(ctx, folders, open, a.language, rundir.SinkOptions{
		Baseline: against, NoPage: !flags.html, Summarize: past.address != "", Origin: past.origin,
	})
	if out != nil {
		defer func() { _ = out.Close() }() // the end of the process releases it, too
	}
	if err != nil {
		return mergeError(ctx, err)
	}
	a.storePast(ctx, past, sink.Side(report).Entry(), out, rundir.RecordingFile)
	if err := a.signRun(past, out, report.Run); err != nil {
		return err
	}
	return a.finishRun(out, &report, sink.First(), nil, began, flags.shown)
}

// mergeError gives an error of merging its exit code.
func mergeError(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*shard.AlteredError](err); ok {
		return &exitError{exitFail, err}
	}
	if _, ok := errors.AsType[*shard.MismatchError](err); ok {
		return usage(fmt.Errorf("the shards cannot be merged:\n%w", err))
	}
	return recordingError(ctx, err)
}
