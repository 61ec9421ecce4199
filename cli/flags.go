package cli

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
)

// pricesFlag adds --prices.
func pricesFlag(f *pflag.FlagSet, file *string) {
	f.StringVar(file, "prices", "", "a price file whose entries override the shipped table")
}

// outFolderFlag adds --out, the folder of a run.
func outFolderFlag(f *pflag.FlagSet, out *string) {
	f.StringVarP(out, "out", "o", "", "`folder` for the reports (default: a new one in "+runsFolder+")")
}

// jsonFlag adds --json, which prints what.
func jsonFlag(f *pflag.FlagSet, asJSON *bool, what string) {
	f.BoolVar(asJSON, "json", false, "print "+cmp.Or(what, "the result")+" as JSON")
}

// workersFlag adds --workers, the number of what at once.
func workersFlag(f *pflag.FlagSet, workers *int, what string) {
	f.IntVarP(workers, "workers", "w", runtime.GOMAXPROCS(0), "number of "+what+" at once")
}

// checkWorkers returns an error unless --workers is at least 1.
func checkWorkers(workers int) error {
	if workers < 1 {
		return fmt.Errorf("--workers must be at least 1, got %d", workers)
	}
	return nil
}

// liveFlag adds --live, which permits real models.
func liveFlag(f *pflag.FlagSet, live *bool) {
	f.BoolVar(live, "live", false, "call the real models of scenarios whose backend is live; they cost money")
}

// checkLive returns an error if --live was given where real models are forbidden.
func (a *app) checkLive(live bool) error {
	if live && openai.FromEnv(a.getenv).Offline {
		return errors.New("--live: REHEARSE_OFFLINE forbids real models, whatever else is set; unset it, or leave --live out")
	}
	return nil
}

// complete completes the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeFiles completes the names of files with an extension.
func completeFiles(extensions ...string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeYAML completes the names of YAML files.
var completeYAML = completeFiles("yaml", "yml")

func joined(names []string) string { return strings.Join(names, ", ") }

// namesOf converts the values of an enumeration to strings.
func namesOf[T ~string](values []T) []string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return names
}

// env returns what drivers need. It must be closed when all trials have ended.
func (a *app) env(prices *price.Table, live bool) *drive.Env {
	return &drive.Env{
		Makers: a.kinds.Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redactor(), Live: live, Getenv: a.getenv,
	}
}
