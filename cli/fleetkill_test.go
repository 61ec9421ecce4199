package cli

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/queue"
)

// gated writes the scenario unending, whose trials end after open was called. It is the last of the plan.
func (f *testFleet) gated() (open func()) {
	f.t.Helper()
	gate := filepath.Join(f.dir, "gate")
	f.scenario("unending", f.logged("while [ ! -e "+gate+" ]; do sleep 0.05; done"), "")
	return func() {
		f.t.Helper()
		f.Expect(os.WriteFile(gate, nil, 0o600)).To(gomega.Succeed())
	}
}

// aloneGated is alone with an open gate, which is closed afterwards.
func (f *testFleet) aloneGated(open func(), args ...string) {
	f.t.Helper()
	open()
	f.alone(exitPass, args...)
	f.Expect(os.Remove(filepath.Join(f.dir, "gate"))).To(gomega.Succeed())
	f.begun()
}

// instants returns n random numbers of trials, sorted. Their seed is in the log.
func (f *testFleet) instants(n, trials int) []int {
	seed := rand.Uint64()
	f.t.Logf("the seed of the instants is %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	at := make([]int, n)
	for i := range at {
		at[i] = 1 + r.IntN(trials-1)
	}
	slices.Sort(at)
	return at
}

// TestFleetSurvivesKills is H-04: a run over three workers, of which one after the other is killed while it
// runs jobs, has the recording of one machine.
func TestFleetSurvivesKills(t *testing.T) {
	f := newFleet(t)
	kills, trials, shipped := longer(20, 200), "10", "loop/golden-*"
	if *soak {
		trials, shipped = "300", "loop/golden-json"
		f.slow("0.7")
	}
	open := f.gated()
	args := []string{"slow", shipped, "unending", "--trials", trials}
	f.aloneGated(open, args...)
	workers := []*process{f.worker(), f.worker(), f.worker()}
	run := f.run("spread", append(args, "--max-deaths", "1000")...)
	for n := range kills {
		at := n % len(workers)
		f.running(workers[at])
		if n%2 > 0 { // else as soon as it has got a job
			f.Eventually(func() string { return f.read("began") }).WithTimeout(time.Minute).Should(gomega.ContainSubstring("%d\n", workers[at].Process.Pid))
		}
		workers[at].kill()
		workers[at] = f.worker()
		if (n+1)%10 == 0 {
			r := f.status().Runs[0]
			t.Logf("%d of %d workers killed, %d of %d trials done", n+1, kills, r.Done, r.Trials)
		}
	}
	f.Expect(f.status().Runs[0].State).To(gomega.Equal("running"))
	open()
	f.exits(run, exitPass)
	f.same("spread")
	f.Expect(f.read("spread/junit.xml")).To(gomega.ContainSubstring(`failures="0"`))
	t.Logf("%s trials each of slow and unending were begun %d times", trials, f.begun())
}

// TestFleetHearsZombies is H-04: a worker that stalls for longer than its lease loses its job, and what it
// stores later is noticed and changes nothing.
func TestFleetHearsZombies(t *testing.T) {
	f := newFleet(t)
	f.slow("1")
	open := f.gated() // the run must not end before the late result comes
	args := []string{"slow", "unending", "--trials", "4"}
	f.aloneGated(open, args...)
	zombie := f.worker("--slots", "1")
	run := f.run("spread", args...)
	f.running(zombie)
	f.Expect(zombie.Process.Signal(syscall.SIGSTOP)).To(gomega.Succeed())
	f.worker()
	f.until("another worker has done the job", func(s queue.Status) bool { return s.Runs[0].Deaths > 0 && s.Runs[0].Done >= 4 })
	f.Expect(zombie.Process.Signal(syscall.SIGCONT)).To(gomega.Succeed())
	f.Eventually(zombie.output.String).WithTimeout(time.Minute).Should(gomega.MatchRegexp(`the result of trials \d+ to \d+ of run \d+ is already there`))
	open()
	f.exits(run, exitPass)
	f.same("spread")
	f.Expect(run.output.String()).NotTo(gomega.ContainSubstring("not repeatable"))
}

// TestFleetRecovers is H-04: the job of a worker that dies is soon given to another one.
func TestFleetRecovers(t *testing.T) {
	f := newFleet(t)
	f.slow("10")
	first := f.worker("--slots", "1")
	run := f.start("run", "slow", "--queue", f.dsn, "--lease", "2s", "--html=false", "--out", "spread")
	f.running(first)
	second := f.worker()
	f.until("the second worker is there", func(s queue.Status) bool { return len(s.Workers) == 2 })
	first.kill()
	killed := f.clock("SELECT clock_timestamp()")
	f.running(second)
	f.Expect(f.status().Runs[0].Deaths).To(gomega.Equal(1))
	begun := f.clock("SELECT attempted_at FROM river_job")
	f.exits(run, exitPass)
	recovery := begun.Sub(killed)
	t.Logf("begun again after %s, with a lease of 2 s", recovery.Round(time.Millisecond))
	limit := 6 * time.Second // of a busy machine; River alone needs at least 30 s
	if *soak {
		limit = 3 * time.Second
	}
	f.Expect(recovery).To(gomega.BeNumerically("<", limit))
	f.Expect(f.begun()).To(gomega.Equal(2))
}

// clock returns a time of the database.
func (f *testFleet) clock(query string) (at time.Time) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.dsn)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	defer conn.Close(f.t.Context())
	f.Expect(conn.QueryRow(f.t.Context(), query).Scan(&at)).To(gomega.Succeed())
	return at
}

// TestFleetResumes is H-04: a run whose coordinator was killed at random instants is resumed, and is the run
// of one machine. No trial is run twice.
func TestFleetResumes(t *testing.T) {
	f := newFleet(t)
	kills := longer(5, 20)
	trials := 15 * kills
	args := []string{"slow", "--trials", strconv.Itoa(trials)}
	f.alone(exitPass, args...)
	f.Expect(f.begun()).To(gomega.Equal(trials))
	f.worker()
	run := f.run("spread", args...)
	for n, at := range f.instants(kills, trials*9/10) {
		f.done(at)
		run.kill()
		t.Logf("%d of %d coordinators killed, after at least %d of %d trials", n+1, kills, at, trials)
		run = f.run("spread", append(args, "--resume", f.key())...)
	}
	f.exits(run, exitPass)
	f.same("spread")
	f.Expect(f.begun()).To(gomega.Equal(trials))
	f.Expect(run.output.String()).To(gomega.ContainSubstring("trials are done"))
	again := f.run("again", append(args, "--resume", f.key())...)
	f.exits(again, exitUsage)
	f.Expect(again.output.String()).To(gomega.ContainSubstring("is done; begin a new one without --resume"))
}

// TestFleetSurvivesCrashes is H-04: a server that crashes and starts again delays a run, and changes nothing.
func TestFleetSurvivesCrashes(t *testing.T) {
	s := newServer(t)
	f := newFleetAt(t, s.address())
	crashes := longer(3, 10)
	trials := 40 * crashes
	args := []string{"slow", "--trials", strconv.Itoa(trials)}
	f.alone(exitPass, args...)
	f.begun()
	f.worker()
	f.worker()
	run := f.run("spread", args...)
	for n, at := range f.instants(crashes, trials*9/10) {
		f.done(at)
		s.crash()
		t.Logf("%d of %d crashes, after at least %d of %d trials", n+1, crashes, at, trials)
	}
	f.exits(run, exitPass)
	f.same("spread")
	t.Logf("%d trials were begun %d times", trials, f.begun())
}

// TestFleetWritesTheSameReports is H-04 over shipped scenarios in virtual time: the reports of a run over
// workers equal those of one machine, byte for byte.
func TestFleetWritesTheSameReports(t *testing.T) {
	f := newFleet(t)
	args := []string{"loop/*", "stop/golden-*", "persist/golden", "-k", "not (claude or codex or process or socket or exec)", "--trials", "8"}
	f.alone(exitPass, args...)
	f.worker()
	f.worker()
	f.exits(f.run("spread", args...), exitPass)
	f.same("spread")
	for _, name := range []string{"report.json", "junit.xml", "report.md"} {
		f.Expect(f.read("spread/"+name)).To(gomega.Equal(f.read("alone/"+name)), name)
	}
}
