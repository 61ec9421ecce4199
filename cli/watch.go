package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/watch"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// A batch of changes is complete when none came for watchQuiet, and at the latest after watchMost:
// editors and formatters write a file more than once.
const (
	watchQuiet = 30 * time.Millisecond
	watchMost  = 400 * time.Millisecond
)

// watchFlag adds --watch.
func watchFlag(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "watch", false, "wait for changes, and run again what they affect")
	for _, other := range []string{"json", "baseline", "perturb", "shard", "reporter"} {
		cmd.MarkFlagsMutuallyExclusive("watch", other)
	}
}

// watching is a session of run --watch.
type watching struct {
	*app
	patterns []string
	flags    runFlags
	prices   *price.Table
	files    *watch.Files
	keys     *console.Keys // nil without a terminal

	added    map[string]bool // folders that are watched
	set      map[string]scenarios.Scenario
	verdicts map[string]gate.Verdict
	code     int // of the last run
}

// watch runs scenarios until it is interrupted or the key q is pressed.
func (a *app) watch(ctx context.Context, patterns []string, flags runFlags, prices *price.Table) error {
	files, err := watch.NewFiles()
	if err != nil {
		return usage(err)
	}
	defer func() { _ = files.Close() }() // it was only read
	if flags.out == "" {
		flags.out = filepath.Join(runsFolder, "watch")
	}
	w := &watching{
		app: a, patterns: patterns, flags: flags, prices: prices, files: files, added: map[string]bool{}, verdicts: map[string]gate.Verdict{},
	}
	for _, pattern := range patterns {
		if err := w.watchFolder(pattern); err != nil {
			return usage(err)
		}
	}
	if err := w.watchFolder(scenarios.OwnFolder); err != nil {
		return usage(err)
	}
	var keys <-chan watch.Key
	if a.atTerminal() && console.IsTerminal(a.stderr) {
		w.keys = console.NewKeys(os.Stdin)
		defer w.keys.Close()
		keys = watchKeys(ctx, w.keys)
	}
	session := watch.Session{Runner: w}
	session.Loop(ctx, watch.Batches(files.Events(), watchQuiet, watchMost, time.After), keys)
	if ctx.Err() != nil || w.keys.Interrupted() {
		return quiet(exitInterrupted)
	}
	return quiet(w.code)
}

// watchFolder watches a folder, or the folder of a file. It ignores a path that does not exist.
func (w *watching) watchFolder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // a name of a scenario, or a folder that is not there
	}
	if !info.IsDir() {
		path = filepath.Dir(path)
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	return w.files.Add(path)
}

// Load implements watch.Runner.
func (w *watching) Load() ([]watch.Item, error) {
	set, _, err := w.plan(w.patterns, w.flags, w.prices)
	if err != nil {
		return nil, err
	}
	w.set = map[string]scenarios.Scenario{}
	items := make([]watch.Item, len(set))
	for i, sc := range set {
		w.set[sc.Name] = sc
		items[i] = watch.Item{Name: sc.Name, Digest: sc.Digest}
		addPrograms(&items[i], &sc)
		for _, folder := range append(items[i].Programs, folderOf(&sc)...) {
			if w.added[folder] {
				continue
			}
			if err := w.files.Add(folder); err != nil {
				return nil, err
			}
			w.added[folder] = true
		}
	}
	for name := range w.verdicts {
		if _, ok := w.set[name]; !ok {
			delete(w.verdicts, name)
		}
	}
	return items, nil
}

// folderOf returns the folder of a scenario that is on disk.
func folderOf(sc *scenarios.Scenario) []string {
	folder, err := sc.Folder()
	if err != nil {
		return nil
	}
	return []string{folder}
}

// addPrograms adds the files that the options of a scenario's agent name, such as its program, and
// their folders.
func addPrograms(item *watch.Item, sc *scenarios.Scenario) {
	here, err := sc.Folder()
	if err != nil {
		return
	}
	data, err := json.Marshal(sc.Drive.Options)
	if err != nil {
		return
	}
	var options any
	_ = json.Unmarshal(data, &options) // it was encoded just now
	eachText(options, func(text string) {
		path := filepath.FromSlash(strings.ReplaceAll(text, "{here}", filepath.ToSlash(here)))
		if !strings.ContainsRune(path, filepath.Separator) {
			return // a word, or a program in PATH
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(here, path)
		}
		path = filepath.Clean(path)
		if info, err := os.Stat(path); err != nil || info.IsDir() || filepath.IsAbs(shownPath(path)) {
			return // installed programs do not change
		}
		item.Files = append(item.Files, path)
		if folder := filepath.Dir(path); !slices.Contains(item.Programs, folder) {
			item.Programs = append(item.Programs, folder)
		}
	})
}

// eachText visits the texts in a decoded JSON value.
func eachText(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, value := range v {
			eachText(value, visit)
		}
	case map[string]any:
		for _, value := range v {
			eachText(value, visit)
		}
	}
}

// Run implements watch.Runner.
func (w *watching) Run(ctx context.Context, names []string) (failed []string) {
	w.keys.Pause()
	w.clear()
	set := make([]scenarios.Scenario, len(names))
	for i, name := range names {
		set[i] = w.set[name]
	}
	report, err := w.runSet(ctx, set, harness.Header(set, tool(), w.prices, w.flags.labels), w.flags, w.prices, nil)
	if exit, ok := errors.AsType[*exitError](err); err != nil && (!ok || exit.err != nil) {
		w.Problem(err)
		return names
	}
	w.code = exitCode(report)
	for _, s := range report.Scenarios {
		w.verdicts[s.Name] = s.Verdict
		if s.Verdict != gate.Pass && s.Verdict != gate.Skip {
			failed = append(failed, s.Name)
		}
	}
	return failed
}

// clear clears a terminal before a run, so the report begins at its top.
func (w *watching) clear() {
	if w.terminal().Live && console.IsTerminal(w.stdout) {
		fmt.Fprint(w.stdout, "\x1b[2J\x1b[3J\x1b[H")
	}
}

// Problem implements watch.Runner.
func (w *watching) Problem(err error) {
	w.keys.Pause()
	if exit, ok := errors.AsType[*exitError](err); ok {
		err = exit.err
	}
	w.code = exitUsage
	w.explain(err)
}

// Idle implements watch.Runner.
func (w *watching) Idle(note string) {
	w.keys.Pause()
	count := map[gate.Verdict]int{}
	for _, v := range w.verdicts {
		count[v]++
	}
	line := "watching " + format.Plural(len(w.set), "scenario")
	for _, v := range []gate.Verdict{gate.Pass, gate.Fail, gate.Error, gate.Skip} {
		if count[v] > 0 {
			line += fmt.Sprintf(", %d %s", count[v], v)
		}
	}
	if k := w.flags.chosen.filter.Keyword; k != "" {
		line += ", filter " + k
	}
	if note != "" {
		line += ": " + note
	}
	term := w.terminal()
	fmt.Fprintln(w.stderr, line)
	if w.keys == nil {
		return
	}
	fmt.Fprintln(w.stderr, term.Paint(console.Faint, "a all  f failed  p filter  Enter again  q quit"))
	w.keys.Resume()
}

// Filter implements watch.Runner.
func (w *watching) Filter(ctx context.Context) {
	w.keys.Pause()
	fmt.Fprint(w.stderr, "filter, such as 'refund and not slow'; empty for all: ")
	if line, ok := w.keys.Line(ctx); ok {
		w.flags.chosen.filter.Keyword = strings.TrimSpace(line)
	}
}

// watchKeys forwards keys, and translates Enter.
func watchKeys(ctx context.Context, keys *console.Keys) <-chan watch.Key {
	out := make(chan watch.Key)
	go func() {
		defer close(out)
		for {
			b, ok := keys.Key(ctx)
			if !ok {
				return
			}
			key := watch.Key(b)
			if b == '\r' {
				key = watch.KeyAgain
			}
			select {
			case out <- key:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}
