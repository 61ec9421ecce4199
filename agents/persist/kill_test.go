//go:build unix

package persist_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
)

// The variables by which a spec tells a child process where to supervise, in the folder
// state with effects beside it, and when to wait for the disk.
const (
	killFolder = "REHEARSE_PERSIST_KILL"
	killSync   = "REHEARSE_PERSIST_SYNC"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killFolder); dir != "" {
		os.Exit(superviseIn(dir))
	}
	os.Exit(m.Run())
}

// superviseIn carries the plan out as far as it gets. It reports on standard output:
// "open", the key of each attempt once its effect is there, and how the run ended.
func superviseIn(dir string) int {
	syncEvery, err := strconv.Atoi(os.Getenv(killSync))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	store, err := journal.Open(filepath.Join(dir, "state"), syncEvery)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("open")
	result := runIn(dir, store, func(key string) { fmt.Println(key) })
	fmt.Println("end", result.Status, result.Details)
	if err := store.Close(); err != nil || result.Status != persist.StatusComplete {
		fmt.Fprintln(os.Stderr, err, result.Details, result.Err)
		return 1
	}
	return 0
}

// runIn supervises the plan in a folder, on a clock of its own.
func runIn(dir string, store journal.Store, report func(key string)) persist.Result {
	w := &effectWorker{dir: dir, clock: clock.NewVirtual(), report: report}
	return persist.Run(context.Background(), killPlan(), persist.Deps{
		Store: store, Clock: w.clock, Workers: map[string]persist.Worker{"default": w},
		Probes: map[plan.Check]persist.Probe{plan.CheckTests: persist.Probe(w.repaired)},
	})
}

// killPlan has all that makes a journal long: dependencies, tasks that fail at first, a
// check that fails until a task of a round mends it, segments, and files that leave the
// context.
func killPlan() plan.Plan {
	p := plan.Plan{
		Name: "kill", Goal: "Nothing is lost.",
		Checks: map[plan.Check]plan.Probe{plan.CheckTests: {Command: []string{"true"}, Fix: "repair"}},
		Limits: plan.Limits{ContextFiles: 7, SoftCalls: 20, HardCalls: 30},
	}
	for i := range 60 {
		t := plan.Task{ID: fmt.Sprintf("t%02d", i), Do: "work", Files: []string{fmt.Sprintf("file-%d", i%20)}}
		if i%5 == 4 {
			t.After = []string{fmt.Sprintf("t%02d", i-1)}
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// effectWorker leaves a line for each attempt that it makes.
type effectWorker struct {
	dir    string
	clock  *clock.Virtual
	report func(key string)
}

func (w *effectWorker) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	if err := a.Meter.Call(3); err != nil {
		return persist.Outcome{Grade: persist.Split}
	}
	a.Meter.Touch("read-by-" + a.Task.ID)
	_ = w.clock.Sleep(ctx, time.Minute)
	if err := appendLine(filepath.Join(w.dir, "effects"), a.Key); err != nil {
		return persist.Outcome{Grade: persist.Escalated, Details: err.Error()}
	}
	w.report(a.Key)
	if strings.HasSuffix(a.Task.ID, "3") && a.Attempt == 1 {
		return persist.Outcome{Grade: persist.Failed, Details: "not at once"}
	}
	return persist.Outcome{Grade: persist.Done, Answer: "Done. " + strings.Repeat("It is in place. ", len(a.Task.ID)*int(a.Key[1]-'0')*20)}
}

// repaired passes once the task that mends it, one of a round, left its effect.
func (w *effectWorker) repaired(context.Context) plan.CheckResult {
	data, err := os.ReadFile(filepath.Join(w.dir, "effects"))
	switch {
	case err != nil:
		return plan.CheckResult{Verdict: plan.Unknown, Details: err.Error()}
	case !strings.Contains(string(data), "\nround-"):
		return plan.CheckResult{Verdict: plan.Fail, Details: "1 test fails"}
	}
	return plan.CheckResult{Verdict: plan.Pass}
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// effectsIn returns the keys of all attempts that left their effect, in order.
func effectsIn(dir string) []string {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(dir, "effects"))
	if !errors.Is(err, os.ErrNotExist) {
		Expect(err).NotTo(HaveOccurred())
	}
	return strings.Fields(string(data))
}

// journalIn returns all records of a state, without their times, and what a process that
// was killed left behind the last one. The snapshot is left out: it hides records.
func journalIn(dir string) (all []state.Record, torn int) {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(dir, "state", "journal"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0
	}
	Expect(err).NotTo(HaveOccurred())
	alone := GinkgoT().TempDir()
	Expect(os.WriteFile(filepath.Join(alone, "journal"), data, 0o600)).To(Succeed())
	view, err := journal.View(alone)
	Expect(err).NotTo(HaveOccurred())
	found, err := view.Load(nil, func(data []byte) error {
		record, err := state.Decode(data)
		record.At = 0
		for i := range record.Results {
			record.Results[i].Took = 0
		}
		all = append(all, record)
		return err
	})
	Expect(errors.Join(err, view.Close())).To(Succeed())
	return all, found.Torn
}

// outcomes returns the keys of the attempts whose outcome is stored.
func outcomes(all []state.Record) map[string]bool {
	GinkgoHelper()
	keys := map[string]bool{}
	for _, r := range all {
		if r.Kind == state.KindOutcome {
			key := fmt.Sprintf("%s#%d", r.Task, r.Attempt)
			Expect(keys).NotTo(HaveKey(key), "an outcome is stored twice")
			keys[key] = true
		}
	}
	return keys
}

// tally counts the kills by the point that they hit.
type tally struct{ kills, plans, early, between, torn, repeated int }

// child starts a process that supervises in a folder.
func child(ctx context.Context, dir string, syncEvery int) (cmd *exec.Cmd, lines *bufio.Scanner, stderr *strings.Builder) {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	cmd, stderr = exec.CommandContext(ctx, self), &strings.Builder{}
	cmd.Env = append(os.Environ(), killFolder+"="+dir, killSync+"="+strconv.Itoa(syncEvery))
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(cmd.Start()).To(Succeed())
	return cmd, bufio.NewScanner(stdout), stderr
}

// kill ends a child after it reported so many lines and after a random amount of work,
// of which a task takes some thousand rounds. It returns whether the child was through before.
func kill(ctx context.Context, dir string, random *rand.Rand) (through bool) {
	GinkgoHelper()
	// Whether the disk was waited for makes no difference to a kill.
	syncEvery := []int{1, 64}[random.IntN(2)]
	cmd, lines, stderr := child(ctx, dir, syncEvery)
	for range random.IntN(8) {
		if !lines.Scan() {
			break
		}
	}
	var work [sha256.Size]byte
	for range random.IntN(20_000) {
		work = sha256.Sum256(work[:])
	}
	Expect(cmd.Process.Kill()).To(Or(Succeed(), MatchError(os.ErrProcessDone))) // SIGKILL
	for lines.Scan() {
		continue // reported before it died
	}
	err := cmd.Wait()
	if err != nil {
		Expect(err).To(MatchError(ContainSubstring("killed")), stderr.String())
	}
	return err == nil
}

var _ = Describe("a supervisor that is killed again and again", func() {
	It("repeats nothing that is stored, loses nothing, and writes the same journal", Label("P-05"), func(ctx SpecContext) {
		want, calm := undisturbed()
		random := rand.New(rand.NewPCG(1, uint64(GinkgoRandomSeed())))
		var t tally
		for least := killCount(); t.kills < least; t.plans++ {
			dir := GinkgoT().TempDir()
			killUntilComplete(ctx, dir, random, &t)
			got, _ := journalIn(dir)
			Expect(got).To(Equal(want))
			all := effectsIn(dir)
			Expect(slices.Collect(maps.Keys(keys(all)))).To(ConsistOf(calm), "an effect is missing, or one too many")
			t.repeated += len(all) - len(calm)
			expectNothingMore(ctx, dir)
		}
		AddReportEntry("killed supervisors", fmt.Sprintf(
			"%d kills in %d plans of %d attempts each: %d before there was a journal, %d inside a write of it, %d between an effect and its stored outcome; %d attempts were made again",
			t.kills, t.plans, len(calm), t.early, t.torn, t.between, t.repeated), ReportEntryVisibilityAlways)
	})

	It("is distinguished from a running one: a second process is rejected with the id of the first, until that is killed", func(ctx SpecContext) {
		dir := GinkgoT().TempDir()
		cmd, lines, _ := child(ctx, dir, 1)
		Expect(lines.Scan()).To(BeTrue())
		Expect(lines.Text()).To(Equal("open"))
		Expect(cmd.Process.Signal(syscall.SIGSTOP)).To(Succeed()) // it stays as it is
		_, err := journal.Open(filepath.Join(dir, "state"), 1)
		Expect(err).To(MatchError(journal.ErrBusy))
		Expect(err).To(MatchError(HaveSuffix(fmt.Sprintf("process %d", cmd.Process.Pid))))
		Expect(cmd.Process.Kill()).To(Succeed())
		Expect(cmd.Wait()).NotTo(Succeed())
		store, err := journal.Open(filepath.Join(dir, "state"), 1)
		Expect(err).NotTo(HaveOccurred())
		Expect(store.Close()).To(Succeed())
	})
})

// killCount returns how often supervisors are killed: REHEARSE_KILLS, or 30 times.
func killCount() int {
	if n, err := strconv.Atoi(os.Getenv("REHEARSE_KILLS")); err == nil && n > 0 {
		return n
	}
	return 30
}

// undisturbed returns the journal of a run that nobody kills, and the keys of its effects.
func undisturbed() (all []state.Record, effects []string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	store, err := journal.Open(filepath.Join(dir, "state"), 1)
	Expect(err).NotTo(HaveOccurred())
	result := runIn(dir, store, func(string) {})
	Expect(store.Close()).To(Succeed())
	Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
	// The journal has something of everything.
	Expect(result.Counts.Segments).To(BeNumerically(">", 3))
	Expect(result.Counts.Evicted).To(BeNumerically(">", 10))
	Expect(result.Counts.Retries).To(BeNumerically(">", 3))
	Expect(result.Counts.Derived).To(Equal(1))
	Expect(result.Counts.Checkpoints).To(BeNumerically(">", 10))
	all, _ = journalIn(dir)
	effects = effectsIn(dir)
	Expect(keys(effects)).To(HaveLen(len(effects)))
	return all, effects
}

// killUntilComplete carries one plan out through kills, and looks at what is stored
// after each.
func killUntilComplete(ctx context.Context, dir string, random *rand.Rand, t *tally) {
	GinkgoHelper()
	stored, before := map[string]bool{}, 0
	for through := false; !through; {
		through = kill(ctx, dir, random)
		effects := effectsIn(dir)
		for key := range keys(effects[before:]) {
			Expect(stored).NotTo(HaveKey(key), "an attempt whose outcome was stored was made again")
		}
		records, torn := journalIn(dir)
		now := outcomes(records)
		for key := range stored {
			Expect(now).To(HaveKey(key), "an outcome that was stored is lost")
		}
		done := keys(effects)
		for key := range now {
			Expect(done).To(HaveKey(key), "an outcome is stored of what was never done")
		}
		if !through {
			t.count(len(records) == 0, torn > 0, len(done) > len(now))
		}
		stored, before = now, len(effects)
	}
}

func (t *tally) count(early, torn, between bool) {
	t.kills++
	for count, hit := range map[*int]bool{&t.early: early, &t.torn: torn, &t.between: between} {
		if hit {
			*count++
		}
	}
}

// expectNothingMore starts a run that was complete once more.
func expectNothingMore(ctx context.Context, dir string) {
	GinkgoHelper()
	before := effectsIn(dir)
	cmd, lines, stderr := child(ctx, dir, 1)
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	Expect(cmd.Wait()).To(Succeed(), stderr.String())
	Expect(last).To(HavePrefix("end complete"))
	Expect(effectsIn(dir)).To(Equal(before), "a run that was complete did something")
}

func keys(all []string) map[string]bool {
	set := map[string]bool{}
	for _, key := range all {
		set[key] = true
	}
	return set
}
