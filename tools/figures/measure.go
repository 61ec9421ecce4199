package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/sync/errgroup"

	"github.com/rehearse-dev/rehearse/clock"
)

const (
	// benchTime is how long a measured benchmark runs at least.
	benchTime = "200ms"
	// short is the time below which the run of a group is always repeated.
	short = 3 * time.Second
	// budget ends the repetitions of a longer group, and limit those of all of them.
	budget, limit = 30 * time.Second, 6 * time.Minute
)

// A session runs benchmarks on one machine.
type session struct {
	only     *regexp.Regexp
	runs     int
	progress io.Writer
	folder   string // of the compiled tests
	machine  string // configuration lines for the results
}

// newSession reads the conditions of the machine, before anything loads it.
func newSession(ctx context.Context, only *regexp.Regexp, runs int, progress io.Writer) (*session, error) {
	folder, err := os.MkdirTemp("", "figures-")
	return &session{only, runs, progress, folder, machine(ctx)}, err
}

// close removes the compiled tests.
func (s *session) close() { _ = os.RemoveAll(s.folder) } // it is temporary

// A group is benchmarks that run in one process, so that a figure and its floor have the same conditions.
type group struct {
	pkg       string
	names     []string
	simulated bool
	spent     time.Duration
}

// groupsOf returns the groups of benchmarks of a page. Rows of a block that share a benchmark function are in one group.
func groupsOf(blocks []block, only *regexp.Regexp) (groups []*group) {
	for _, b := range blocks {
		var found []*group
		for i := range b.rows {
			metrics := b.rows[i].metrics()
			if !slices.ContainsFunc(metrics, func(m metric) bool { return only.MatchString(m.pkg + " " + m.bench) }) {
				continue
			}
			at := slices.IndexFunc(found, func(g *group) bool {
				if g.simulated { // several run at once, each for itself
					return slices.Contains(g.names, metrics[0].bench)
				}
				return slices.ContainsFunc(metrics, g.shares)
			})
			if at < 0 {
				at, found = len(found), append(found, &group{pkg: metrics[0].pkg, simulated: len(b.columns) > 0})
			}
			for _, m := range metrics {
				if !slices.Contains(found[at].names, m.bench) {
					found[at].names = append(found[at].names, m.bench)
				}
			}
		}
		groups = append(groups, found...)
	}
	return groups
}

// function returns the name of the function of a benchmark, without its prefix.
func function(bench string) string {
	name, _, _ := strings.Cut(bench, "/")
	return name
}

// shares reports whether the benchmark function of m is in the group.
func (g *group) shares(m metric) bool {
	return g.pkg == m.pkg && slices.ContainsFunc(g.names, func(name string) bool { return function(name) == function(m.bench) })
}

// pattern returns the expression that selects exactly the benchmarks of a group.
func (g *group) pattern() string {
	alternatives := make([]string, len(g.names))
	for i, name := range g.names {
		parts := strings.Split("Benchmark"+name, "/")
		for j, part := range parts {
			parts[j] = "^" + regexp.QuoteMeta(part) + "$"
		}
		alternatives[i] = strings.Join(parts, "/")
	}
	return strings.Join(alternatives, "|")
}

func measureAll(ctx context.Context, pages []string, s *session) error {
	var failed []error
	for _, page := range pages {
		all, groups, err := s.prepare(ctx, page)
		if err != nil {
			return err
		}
		newer, err := s.measure(ctx, groups)
		failed = append(failed, err)
		if err := all.replacedBy(newer).write(page); err != nil {
			return err
		}
		failed = append(failed, renderAll([]string{page}))
	}
	return errors.Join(failed...)
}

// repeatAll simulates again and compares the rates with the stored ones, which the seeds of the benchmarks determine.
func repeatAll(ctx context.Context, pages []string, s *session) error {
	for _, page := range pages {
		all, groups, err := s.prepare(ctx, page)
		if err != nil {
			return err
		}
		groups = slices.DeleteFunc(groups, func(g *group) bool { return !g.simulated })
		newer, err := s.measure(ctx, groups)
		if err != nil {
			return err
		}
		if err := all.compare(newer); err != nil {
			return fmt.Errorf("%s: %w", storeOf(page), err)
		}
	}
	return nil
}

// compare returns an error that names each rate of newer that is not the stored one.
func (all results) compare(newer results) error {
	var different []error
	for _, r := range newer {
		for _, v := range r.Values {
			if v.Unit == "sec/op" {
				continue
			}
			key := keyOf(r)
			if stored, _ := all.of(metric{key[0], key[1], v.Unit}); len(stored) == 0 || stored[len(stored)-1] != v.Value {
				different = append(different, fmt.Errorf("%s %s: %v %s, stored is %v; run make simulations", key[0], key[1], v.Value, v.Unit, stored))
			}
		}
	}
	if len(newer) == 0 {
		return errors.New("no benchmark matches")
	}
	return errors.Join(different...)
}

// prepare compiles the tests of all packages of a page.
func (s *session) prepare(ctx context.Context, page string) (results, []*group, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, nil, fmt.Errorf("read the page: %w", err)
	}
	_, blocks, err := parsePage(page, string(text))
	if err != nil {
		return nil, nil, err
	}
	all, err := readResults(page)
	if err != nil {
		return nil, nil, err
	}
	groups := groupsOf(blocks, s.only)
	if len(groups) == 0 {
		return nil, nil, fmt.Errorf("%s: no row matches", page)
	}
	if err := s.build(ctx, "build", "./cmd/rehearse", s.rehearse()); err != nil {
		return nil, nil, err
	}
	for _, g := range groups {
		if _, err := os.Stat(s.program(g)); err == nil {
			continue
		}
		if err := s.build(ctx, "test", "./"+g.pkg, s.program(g)); err != nil {
			return nil, nil, err
		}
	}
	return all, groups, nil
}

// build compiles a program, or the tests of a package.
func (s *session) build(ctx context.Context, verb, pkg, out string) error {
	fmt.Fprintf(s.progress, "compile %s\n", pkg)
	args := []string{verb, "-trimpath", "-ldflags=-s -w", "-o", out, pkg}
	if verb == "test" {
		args = []string{verb, "-c", "-o", out, pkg}
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("compile %s: %w", pkg, err)
	}
	return nil
}

// rehearse is the program that benchmarks of whole processes start.
func (s *session) rehearse() string { return filepath.Join(s.folder, "rehearse") }

func (s *session) program(g *group) string {
	return filepath.Join(s.folder, strings.ReplaceAll(g.pkg, "/", "_")+".test")
}

// measure runs all groups in turn, several times, so that a busy minute of the machine touches one run of each. The short ones
// come first in the repetitions, and the long ones get the remaining time.
func (s *session) measure(ctx context.Context, groups []*group) (all results, err error) {
	if len(groups) > 0 && groups[0].simulated {
		return s.simulate(ctx, groups)
	}
	var failed []error
	var spent time.Duration
	run := func(round int, g *group) {
		before := g.spent
		found, err := s.run(ctx, g)
		spent += g.spent - before
		fmt.Fprintf(s.progress, "run %d of %d: %s %s, %.1f s\n", round, s.runs, g.pkg, function(g.names[0]), (g.spent - before).Seconds())
		if err != nil {
			failed = append(failed, err)
			g.spent += budget // it is not tried again
		}
		all = append(all, found...)
	}
	var quick, slow []*group
	for _, g := range groups {
		if run(1, g); g.spent < short {
			quick = append(quick, g)
		} else {
			slow = append(slow, g)
		}
	}
	for round := 2; round <= s.runs; round++ {
		for _, g := range quick {
			run(round, g)
		}
	}
	for round := 2; round <= s.runs; round++ {
		for _, g := range slow {
			if g.spent < budget && spent < limit {
				run(round, g)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *benchfmt.Result) int {
		x, y := keyOf(a), keyOf(b)
		return slices.Compare(x[:], y[:])
	})
	return all, errors.Join(failed...)
}

// simulate runs groups once, on all processors. What they report does not depend on the time that they take.
func (s *session) simulate(ctx context.Context, groups []*group) (results, error) {
	parts := make([]results, len(groups))
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	var done atomic.Int64
	for i, g := range groups {
		all.Go(func() (err error) {
			parts[i], err = s.run(ctx, g)
			fmt.Fprintf(s.progress, "%d of %d: %s %s, %.1f s\n", done.Add(1), len(groups), g.pkg, g.names[0], g.spent.Seconds())
			return err
		})
	}
	err := all.Wait()
	return slices.Concat(parts...), err
}

// run runs the benchmarks of a group once.
func (s *session) run(ctx context.Context, g *group) (results, error) {
	atLeast := benchTime
	if g.simulated { // so that the rates depend on the seeds only
		atLeast = "1x"
	}
	cmd := exec.CommandContext(ctx, s.program(g), "-test.run", "^$", "-test.timeout", "20m",
		"-test.bench", g.pattern(), "-test.benchtime", atLeast)
	var out bytes.Buffer
	cmd.Env = append(os.Environ(), "REHEARSE_PROGRAM="+s.rehearse())
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.FromSlash(g.pkg), &out, &out
	begin := clock.Real().Now()
	err := cmd.Run()
	g.spent += clock.Real().Now().Sub(begin)
	if err != nil {
		return nil, fmt.Errorf("run %s in %s: %w\n%s", g.pattern(), g.pkg, err, out.Bytes())
	}
	all, err := parseResults(g.pkg, append([]byte(s.machine), out.Bytes()...))
	if err != nil {
		return nil, err
	}
	for _, name := range g.names {
		if !slices.ContainsFunc(all, func(r *benchfmt.Result) bool { return keyOf(r) == [2]string{g.pkg, name} }) {
			return all, fmt.Errorf("%s has no benchmark %s", g.pkg, name)
		}
	}
	return all, nil
}

// machine returns the conditions of a session as configuration lines. What cannot be read is left out, and shown as unknown.
func machine(ctx context.Context) string {
	var b strings.Builder
	fmt.Fprintf(&b, "date: %s\n", clock.Real().Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "cores: %d\ngo: %s\n", runtime.NumCPU(), runtime.Version())
	if text, err := os.ReadFile("/proc/loadavg"); err == nil { // Linux
		fmt.Fprintf(&b, "load: %s\n", strings.Fields(string(text))[0])
	}
	if commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty", "--exclude=*", "--abbrev=8").Output(); err == nil {
		fmt.Fprintf(&b, "commit: %s\n", bytes.TrimSpace(commit))
	}
	return b.String()
}
