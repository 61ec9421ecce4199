package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// Rehearsal selects scenarios to run in Go, and configures the run. At least one of Files, Text and
// Scenarios must be set; all other fields are optional.
type Rehearsal struct {
	// Files are scenario files, folders, or names of scenarios ("loop/*") in the folder ./scenarios
	// or among the shipped ones, like the arguments of rehearse run.
	Files []string
	// Text is one scenario in YAML. Files that it names are relative to the current folder, in go
	// test the folder of the package.
	Text string
	// Scenarios are scenarios from scenarios.Load, or Go values, which are validated like
	// files. Files that they name are relative to the current folder.
	Scenarios []scenarios.Scenario

	// Kinds are the kinds of agents that scenarios may drive besides Go functions; kinds.All
	// returns all that ship.
	Kinds kind.List
	// Functions are stateless agents, by their name in scenarios (drive.function.name).
	Functions map[string]app.Function
	// Makers create stateful agents, one for each conversation, by the same name.
	Makers map[string]app.Maker

	// Trials is the number of trials of each scenario; 0 means that of the scenario.
	Trials int
	// Workers is the number of concurrent trials; 0 means 1, with which functions need not be safe
	// for concurrent use.
	Workers int
	// Record is the folder for the recording, which rehearse report reads; empty means no
	// recording. The folder is created if needed and contains one recording.
	Record string
	// RecordFailed is a folder like Record that is written only if the verdict is fail or
	// error. Without both, Check uses the test's ArtifactDir under "go test -artifacts".
	RecordFailed string
	// Required makes it an error if this machine lacks something that a scenario needs, such as
	// Docker. By default the trial is skipped.
	Required bool
	// Live allows scenarios with a live backend to call it, which costs money, unless
	// REHEARSE_OFFLINE forbids it. By default they are skipped.
	Live bool
	// Prices is the price table; nil means the shipped one.
	Prices *price.Table
	// Redactor removes secrets from output and recordings; nil removes the well-known forms, and
	// the values of environment variables that look like secrets.
	Redactor *redact.Redactor
}

// Validate returns an error if a field is invalid; it does not read the scenarios.
func (r *Rehearsal) Validate() error {
	switch {
	case len(r.Files) == 0 && r.Text == "" && len(r.Scenarios) == 0:
		return errors.New("no scenarios: set Files, Text or Scenarios")
	case r.Trials < 0:
		return fmt.Errorf("the number of trials must be at least 1, or 0 for the number in each scenario, got %d", r.Trials)
	case r.Workers < 0:
		return fmt.Errorf("the number of workers must be at least 1, or 0 for the default, got %d", r.Workers)
	}
	for name, f := range r.Functions {
		if _, twice := r.Makers[name]; twice {
			return fmt.Errorf("the agent %q is in Functions and in Makers; remove one of them", name)
		}
		if f == nil {
			return fmt.Errorf("the function of the agent %q is nil", name)
		}
	}
	for name, m := range r.Makers {
		if m == nil {
			return fmt.Errorf("the maker of the agent %q is nil", name)
		}
	}
	return nil
}

// Result is the result of a rehearsal. Its String method describes the trials.
type Result struct {
	// Verdict is the worst verdict of the trials: gate.Overall.
	Verdict gate.Verdict
	// Trials are sorted by scenario name, then by number, each with its facts, findings and record.
	Trials []*Judged
	// Recording is the folder of the recording; empty if not recorded.
	Recording string
}

// Rehearse runs scenarios and judges them. A failed trial is a verdict, not an error. The error
// reports invalid scenarios (all problems, with positions), a missing agent, a recording that cannot
// be written, or the end of ctx; the result then covers the completed trials.
//
// Go functions run in virtual time: a scripted latency of an hour takes no time, and two runs are
// equal byte for byte.
func Rehearse(ctx context.Context, r Rehearsal) (*Result, error) {
	if r.RecordFailed == "" {
		return r.rehearse(ctx, nil)
	}
	return r.rehearse(ctx, func() string { return r.RecordFailed })
}

// rehearse is Rehearse with a function that returns the folder for the recording of a failed
// rehearsal; nil means no recording.
func (r *Rehearsal) rehearse(ctx context.Context, failedFolder func() string) (*Result, error) {
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	set, err := r.load()
	if err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	env, err := r.env()
	if err != nil {
		return nil, fmt.Errorf("rehearse: %w", err)
	}
	defer func() { _ = env.Close() }() // all trials have ended; only a listener is left
	header := Header(set, toolName(), env.Prices, nil)
	sink := &keeper{retainLines: r.Record == "" && failedFolder != nil}
	if r.Record != "" {
		if sink.files, err = newFiles(r.Record, header); err != nil {
			return nil, fmt.Errorf("rehearse: %w", err)
		}
		defer sink.files.close()
	}
	update := updating()
	snapshots := &SnapshotSink{Missing: update, Update: update}
	outcome, err := Run(ctx, set, Options{
		Workers: r.Workers, Env: env, Sink: sink, Snapshots: snapshots, Bare: r.Record == "" && !sink.retainLines, Language: r.language(),
	})
	if err == nil {
		err = sink.files.commit(outcome)
	}
	if err == nil {
		err = WriteSnapshots(snapshots.Taken())
	}
	res := sink.result()
	res.Recording = r.Record
	if err == nil && sink.retainLines && (res.Verdict == gate.Fail || res.Verdict == gate.Error) {
		res.Recording = failedFolder()
		err = sink.record(res.Recording, header, outcome)
	}
	if err == nil && outcome.Interrupted {
		err = clock.Err(ctx)
	}
	if err != nil {
		err = fmt.Errorf("rehearse: %w", err)
	}
	return res, err
}

// load reads the scenarios, sorted by name.
func (r *Rehearsal) load() ([]scenarios.Scenario, error) {
	language := r.language()
	opts := scenarios.Options{
		Kinds: r.kinds().Formats(), CheckExpr: language.Check, CheckInvariant: language.CheckInvariant,
		Prices: r.Prices, Folders: []string{scenarios.OwnFolder},
	}
	var set []scenarios.Scenario
	var wrong scenarios.Diagnostics
	here, err := os.OpenRoot(".")
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	defer here.Close()
	for i, sc := range r.Scenarios {
		if sc.Digest == "" { // scenarios.Load has not validated it
			var found scenarios.Diagnostics
			sc, found = scenarios.ParseValue(fmt.Sprintf("Scenarios[%d]", i), sc, here.FS(), opts)
			wrong = append(wrong, found...)
		}
		set = append(set, sc)
	}
	if len(r.Files) > 0 {
		read, found := scenarios.Load(r.Files, opts)
		set, wrong = append(set, read...), append(wrong, found...)
	}
	if r.Text != "" {
		sc, found := scenarios.Parse("Text", []byte(r.Text), here.FS(), opts)
		sc.File, sc.Where = "", nil // there is no file to open
		set, wrong = append(set, sc), append(wrong, found...)
	}
	if err := wrong.Err(); err != nil && r.Kinds == nil {
		return nil, fmt.Errorf(
			"%w\n(Kinds is not set, so scenarios can drive Go functions only; kinds.All() returns all shipped kinds of agents)", err)
	} else if err != nil {
		return nil, err
	}
	slices.SortStableFunc(set, func(a, b scenarios.Scenario) int { return strings.Compare(a.Name, b.Name) })
	for i := range set {
		if i > 0 && set[i].Name == set[i-1].Name {
			return nil, fmt.Errorf("two scenarios have the name %s; rename one of them", set[i].Name)
		}
		if r.Trials > 0 {
			set[i].Trials = r.Trials
		}
	}
	return set, nil
}

// env returns the environment that all drivers share.
func (r *Rehearsal) env() (*drive.Env, error) {
	env := &drive.Env{
		Prices: r.Prices, Tokens: tokens(), Redactor: r.Redactor, Required: r.Required, Live: r.Live, Makers: r.kinds().Makers(),
	}
	if env.Redactor == nil {
		env.Redactor = redact.New(redact.SecretsIn(os.Environ())) //nolint:forbidigo // the default of Redactor
	}
	if env.Prices != nil {
		return env, nil
	}
	var err error
	env.Prices, err = price.Default()
	return env, err
}

// kinds returns the kinds of agents, with the Go functions of the rehearsal.
func (r *Rehearsal) kinds() kind.List {
	makers := make(map[string]app.Maker, len(r.Functions)+len(r.Makers))
	for name, f := range r.Functions {
		makers[name] = func(site app.Site) func(context.Context, string) (string, error) {
			return func(ctx context.Context, text string) (string, error) { return f(ctx, site, text) }
		}
	}
	maps.Copy(makers, r.Makers)
	own := function.Kind(makers)
	others := slices.DeleteFunc(slices.Clone(r.Kinds), func(k kind.Kind) bool { return k.Name == own.Name })
	return append(others, own)
}

// language returns the language in which trials are measured and judged.
func (r *Rehearsal) language() *gate.Language {
	if r.Kinds == nil {
		return ownAgents()
	}
	return r.kinds().Language()
}

// ownAgents returns the language for Go functions only. All rehearsals share it, because it caches
// compiled expressions.
var ownAgents = sync.OnceValue(func() *gate.Language { return kind.List{function.Kind(nil)}.Language() })

// tokens returns the token counter that all rehearsals share, because it caches counts.
var tokens = sync.OnceValue(func() *token.Counter { return token.NewCounter(token.Options{}) })

// modulePath is the path of this module in a program's build information.
const modulePath = "github.com/rehearse-dev/rehearse"

// toolName returns the name and version that recordings contain.
func toolName() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "rehearse devel (package harness)"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
			return "rehearse " + m.Version + " (package harness)"
		}
	}
	return "rehearse devel (package harness)"
}

// keeper is a Sink that retains all trials, and records them if there are files.
type keeper struct {
	trials      []*Judged
	files       *files
	retainLines bool // for record
	lines       [][]byte
}

// record writes the retained trials into a folder.
func (k *keeper) record(folder string, header record.Run, outcome Outcome) error {
	files, err := newFiles(folder, header)
	if err != nil {
		return err
	}
	defer files.close()
	var head *record.Scenario
	for i, j := range k.trials {
		if j.Scenario != head {
			head = j.Scenario
			err = files.scenario(*head)
		}
		if err == nil {
			err = files.trial(k.lines[i], j.Timings)
		}
		if err != nil {
			return err
		}
	}
	return files.commit(outcome)
}

// Scenario implements Sink.
func (k *keeper) Scenario(head record.Scenario) error { return k.files.scenario(head) }

// Trial implements Sink.
func (k *keeper) Trial(j Judged) error {
	lines := j.Lines
	j.Lines = nil // the recording has them
	if k.retainLines {
		k.lines = append(k.lines, lines)
	}
	k.trials = append(k.trials, &j)
	return k.files.trial(lines, j.Timings)
}

func (k *keeper) result() *Result {
	verdicts := make([]gate.Verdict, len(k.trials))
	for i, j := range k.trials {
		verdicts[i] = j.Verdict
	}
	return &Result{Verdict: gate.Overall(verdicts), Trials: k.trials}
}
