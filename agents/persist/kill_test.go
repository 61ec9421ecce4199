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
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
)

// killFolder is the variable by which a spec tells a child process where to supervise:
// in the folder state, with effects beside it.
const killFolder = "REHEARSE_PERSIST_KILL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killFolder); dir != "" {
		os.Exit(superviseIn(dir))
	}
	os.Exit(m.Run())
}

// superviseIn carries the plan out as far as it gets. It reports on standard output:
// "open", the key of each attempt once its effect is there, and how the run ended.
func superviseIn(dir string) int {
	store, err := journal.Open(filepath.Join(dir, "state"), journal.Options{})
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
		Probes: map[check.Name]check.Probe{check.Tests: check.ProbeFunc(w.repaired)},
	})
}

// killPlan has all that makes a journal long: dependencies, tasks that fail at first, a
// check that fails until a task of a round mends it, segments, and files that leave the
// context.
func killPlan() plan.Plan {
	p := plan.Plan{
		Name: "kill", Goal: "Nothing is lost.",
		Checks: map[check.Name]plan.Probe{check.Tests: {Command: []string{"true"}, Fix: "repair"}},
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
	name := "effects"
	if a.Task.Do == "repair" {
		name = "repairs"
	}
	if err := appendLine(filepath.Join(w.dir, name), a.Key); err != nil {
		return persist.Outcome{Grade: persist.Escalated, Details: err.Error()}
	}
	w.report(a.Key)
	if strings.HasSuffix(a.Task.ID, "3") && a.Attempt == 1 {
		return persist.Outcome{Grade: persist.Failed, Details: "not at once"}
	}
	return persist.Outcome{Grade: persist.Done, Answer: "Done. " + strings.Repeat("It is in place. ", len(a.Task.ID)*int(a.Key[1]-'0')*20)}
}

// repaired passes once the task that mends it did so.
func (w *effectWorker) repaired(context.Context) check.Result {
	if _, err := os.Stat(filepath.Join(w.dir, "repairs")); err != nil {
		return check.Result{Verdict: check.Fail, Details: "1 test fails"}
	}
	return check.Result{Verdict: check.Pass}
}

func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// linesOf are the lines of a file; one that is not there has none.
func linesOf(path string) []string {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		Expect(err).NotTo(HaveOccurred())
	}
	return strings.Fields(string(data))
}

// effectsIn are the keys of all attempts that left their effect.
func effectsIn(dir string) []string {
	GinkgoHelper()
	return append(linesOf(filepath.Join(dir, "effects")), linesOf(filepath.Join(dir, "repairs"))...)
}

// journalIn are all records of a state, without their times, and what a process that
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
		all = append(all, record.Timeless())
		return err
	})
	Expect(errors.Join(err, view.Close())).To(Succeed())
	return all, found.Torn
}

// outcomes are the keys of the attempts whose outcome is stored.
func outcomes(all []state.Record) map[string]bool {
	GinkgoHelper()
	keys := map[string]bool{}
	for _, r := range all {
		if r.Kind == state.KindOutcome {
			Expect(keys).NotTo(HaveKey(r.Key()), "an outcome is stored twice")
			keys[r.Key()] = true
		}
	}
	return keys
}

// tally is what the kills hit.
type tally struct{ kills, plans, early, repeated, torn, resumed int }

// life starts a child, and kills it after it reported so many lines and after a random
// amount of work, of which a task takes some thousand rounds. It returns whether the
// child was through before.
func life(ctx context.Context, dir string, random *rand.Rand) (through bool) {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	child := exec.CommandContext(ctx, self)
	child.Env = append(os.Environ(), killFolder+"="+dir)
	var said strings.Builder
	child.Stderr = &said
	stdout, err := child.StdoutPipe()
	Expect(err).NotTo(HaveOccurred())
	Expect(child.Start()).To(Succeed())
	lines := bufio.NewScanner(stdout)
	for range random.IntN(8) {
		if !lines.Scan() || strings.HasPrefix(lines.Text(), "end ") {
			break
		}
	}
	if random.IntN(4) == 0 {
		_, err := journal.Open(filepath.Join(dir, "state"), journal.Options{})
		if err != nil { // it may be through
			Expect(err).To(MatchError(journal.ErrBusy))
			Expect(err).To(MatchError(ContainSubstring("process " + strconv.Itoa(child.Process.Pid))))
		}
	}
	var work [sha256.Size]byte
	for range random.IntN(20_000) {
		work = sha256.Sum256(work[:])
	}
	Expect(child.Process.Kill()).To(Or(Succeed(), MatchError(os.ErrProcessDone))) // SIGKILL
	for lines.Scan() {
		continue // reported before it died
	}
	err = child.Wait()
	if err != nil {
		Expect(err).To(MatchError(ContainSubstring("killed")), said.String())
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
			Expect(maps.Keys(keys(effectsIn(dir)))).To(ConsistOf(calm), "an effect is missing, or one too many")
		}
		AddReportEntry("killed supervisors", fmt.Sprintf(
			"%d kills in %d plans of %d attempts: %d before the state was open, %d in an attempt that was made again, %d inside a write, %d between an outcome and its report",
			t.kills, t.plans, len(calm), t.early, t.repeated, t.torn, t.resumed), ReportEntryVisibilityAlways)
	})
})

// killCount is how often supervisors are killed: REHEARSE_KILLS, or 30 times.
func killCount() int {
	if n, err := strconv.Atoi(os.Getenv("REHEARSE_KILLS")); err == nil && n > 0 {
		return n
	}
	return 30
}

// undisturbed is the journal of a run that nobody kills, and the keys of its effects.
func undisturbed() (all []state.Record, effects []string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	store, err := journal.Open(filepath.Join(dir, "state"), journal.Options{})
	Expect(err).NotTo(HaveOccurred())
	result := runIn(dir, store, func(string) {})
	Expect(store.Close()).To(Succeed())
	Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
	Expect(result.Counts.Segments).To(BeNumerically(">", 3))
	Expect(result.Counts.Evicted).To(BeNumerically(">", 10))
	Expect(result.Counts.Retries).To(BeNumerically(">", 3))
	Expect(result.Counts.Derived).To(Equal(1))
	Expect(result.Counts.Checkpoints).To(BeNumerically(">", 10))
	all, _ = journalIn(dir)
	return all, effectsIn(dir)
}

// killUntilComplete carries one plan out through kills, and looks at what is stored
// after each.
func killUntilComplete(ctx context.Context, dir string, random *rand.Rand, t *tally) {
	GinkgoHelper()
	stored := map[string]bool{}
	effects := 0
	for through := false; !through; {
		through = life(ctx, dir, random)
		all := effectsIn(dir)
		made := keys(all[min(effects, len(all)):])
		for key := range made {
			Expect(stored).NotTo(HaveKey(key), "an attempt whose outcome was stored was made again")
		}
		records, torn := journalIn(dir)
		now := outcomes(records)
		for key := range stored {
			Expect(now).To(HaveKey(key), "an outcome that was stored is lost")
		}
		for key := range now {
			Expect(keys(all)).To(HaveKey(key), "an outcome is stored of what was never done")
		}
		if !through {
			t.kills++
			t.count(len(records) == 0, torn > 0, len(all) > len(keys(all)), len(now) == len(keys(all)))
		}
		stored, effects = now, len(all)
	}
	before := effectsIn(dir)
	Expect(life(ctx, dir, rand.New(lateKiller{}))).To(BeTrue())
	Expect(effectsIn(dir)).To(Equal(before), "a run that was complete did something")
}

func (t *tally) count(early, torn, repeated, resumed bool) {
	for _, c := range []struct {
		hit   bool
		count *int
	}{{early, &t.early}, {torn, &t.torn}, {repeated, &t.repeated}, {resumed, &t.resumed}} {
		if c.hit {
			*c.count++
		}
	}
}

func keys(all []string) map[string]bool {
	set := map[string]bool{}
	for _, key := range all {
		set[key] = true
	}
	return set
}
