package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/queue"
)

// soak selects the long forms of the specs of kills and restarts (make soak).
var soak = flag.Bool("soak", false, "kill and restart more often in specs of the fleet")

// longer returns a number, such as that of kills: of the suite, of its long form, or of go test -short.
func longer(suite, long int) int {
	switch {
	case *soak:
		return long
	case testing.Short():
		return (suite + 1) / 2
	}
	return suite
}

// testFleet is a queue on the server that REHEARSE_TEST_POSTGRES names, and the processes that use it.
type testFleet struct {
	*gomega.WithT
	t   *testing.T
	dir string
	dsn string
	env []string // for the processes
}

// newFleet makes an empty queue, and a folder with scenarios of programs: slow takes 20 ms a trial.
func newFleet(t *testing.T) *testFleet {
	t.Helper()
	server := os.Getenv("REHEARSE_TEST_POSTGRES")
	if server == "" {
		t.Skip("REHEARSE_TEST_POSTGRES names no server")
	}
	dsn, drop, err := database.Scratch(t.Context(), server)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { gomega.NewWithT(t).Expect(drop()).To(gomega.Succeed()) })
	return newFleetAt(t, dsn)
}

// newFleetAt makes a folder with scenarios for an empty queue.
func newFleetAt(t *testing.T, dsn string) *testFleet {
	t.Helper()
	f := &testFleet{gomega.NewWithT(t), t, t.TempDir(), dsn, nil}
	f.Expect(os.WriteFile(filepath.Join(f.dir, "began"), nil, 0o600)).To(gomega.Succeed())
	f.slow("0.02")
	return f
}

// slow makes the scenario slow take this number of seconds a trial.
func (f *testFleet) slow(seconds string) {
	f.t.Helper()
	f.scenario("slow", f.logged("sleep "+seconds), "")
}

// logged returns a line of shell that writes the id of the worker to the file began, and then does something.
func (f *testFleet) logged(line string) string {
	return "echo $PPID >> " + filepath.Join(f.dir, "began") + "; " + line + "; echo done"
}

// begun returns how often a trial of a logged scenario was begun since the last call.
func (f *testFleet) begun() int {
	f.t.Helper()
	lines := strings.Count(f.read("began"), "\n")
	f.Expect(os.Truncate(filepath.Join(f.dir, "began"), 0)).To(gomega.Succeed())
	return lines
}

// scenario writes a scenario that drives a line of shell.
func (f *testFleet) scenario(name, line, more string) {
	f.t.Helper()
	f.write(name, fmt.Sprintf("drive: {command: {run: [sh, -c, %q], turns: [Go.]}}", line), more)
}

// write writes a scenario.
func (f *testFleet) write(name, drive, more string) {
	f.t.Helper()
	text := fmt.Sprintf(`name: %s
%s
backend: {model: gpt-4.1-mini, rules: [{text: hi}]}
expect: {status: done, allow: [unused-line], calls: 0, that: ['run.text == "done"']}
%s`, name, drive, more)
	f.Expect(os.MkdirAll(filepath.Join(f.dir, "scenarios"), 0o700)).To(gomega.Succeed())
	f.Expect(os.WriteFile(filepath.Join(f.dir, "scenarios", name+".yaml"), []byte(text), 0o600)).To(gomega.Succeed())
}

// process is a process that was started, with what it printed.
type process struct {
	*exec.Cmd
	output syncedBuffer
	ended  chan struct{}
}

type syncedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncedBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncedBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// start starts the program, which ends with the test.
func (f *testFleet) start(args ...string) *process {
	f.t.Helper()
	program, err := exec.LookPath("rehearse")
	f.Expect(err).NotTo(gomega.HaveOccurred())
	return f.startAs(program, args...)
}

func (f *testFleet) startAs(program string, args ...string) *process {
	f.t.Helper()
	p := &process{Cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.Dir, p.Stdout, p.Stderr = f.dir, &p.output, &p.output
	p.Env = append(os.Environ(), "REHEARSE_OFFLINE=1", "NO_COLOR=1", "REHEARSE_HISTORY=none", queueVariable+"="+f.dsn)
	p.Env = append(p.Env, f.env...)
	f.Expect(p.Start()).To(gomega.Succeed())
	go func() { _ = p.Wait(); close(p.ended) }() // its state has the result
	f.t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.Process.Kill() // it may have ended
	<-p.ended
}

// worker starts a worker with two slots.
func (f *testFleet) worker(more ...string) *process {
	return f.start(append([]string{"worker", "--slots", "2"}, more...)...)
}

// run starts a run over the queue, with a short lease.
func (f *testFleet) run(out string, args ...string) *process {
	return f.start(append([]string{"run", "--queue", f.dsn, "--lease", "1s", "--job-time", "200ms", "--html=false", "--out", out}, args...)...)
}

// exits waits for the end of a process, and checks its exit code.
func (f *testFleet) exits(p *process, code int) {
	f.t.Helper()
	f.Eventually(p.ended).WithTimeout(time.Duration(longer(2, 10))*time.Minute).Should(gomega.BeClosed(), p.output.String)
	f.Expect(p.ProcessState.ExitCode()).To(gomega.Equal(code), "%v", p.output.String())
}

// status returns the state of the queue.
func (f *testFleet) status() queue.Status {
	f.t.Helper()
	store, err := queue.Open(f.t.Context(), f.dsn, 1)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	defer store.Close()
	status, err := store.Status(f.t.Context())
	f.Expect(err).NotTo(gomega.HaveOccurred())
	return status
}

// until waits until the state of the queue fulfils a condition.
func (f *testFleet) until(what string, is func(queue.Status) bool) {
	f.t.Helper()
	f.Eventually(func() bool { return is(f.status()) }, time.Minute, 20*time.Millisecond).Should(gomega.BeTrue(), what)
}

// running waits until a worker runs a job.
func (f *testFleet) running(p *process) {
	f.t.Helper()
	f.until("the worker runs a job", func(s queue.Status) bool {
		for _, w := range s.Workers {
			if w.PID == p.Process.Pid && w.Running > 0 {
				return true
			}
		}
		return false
	})
}

// done waits until a number of trials is done in the only run.
func (f *testFleet) done(trials int) {
	f.t.Helper()
	f.until(fmt.Sprint(trials, " trials are done"), func(s queue.Status) bool { return len(s.Runs) == 1 && s.Runs[0].Done >= trials })
}

// key returns the key of the only run.
func (f *testFleet) key() string {
	f.t.Helper()
	runs := f.status().Runs
	f.Expect(runs).To(gomega.HaveLen(1))
	return runs[0].Key
}

// alone runs the same on this machine.
func (f *testFleet) alone(code int, args ...string) {
	f.t.Helper()
	f.exits(f.start(append([]string{"run", "--workers", "16", "--html=false", "--out", "alone"}, args...)...), code)
}

// same checks that a recording equals that of one machine, and that nothing is left in the queue.
func (f *testFleet) same(out string) {
	f.t.Helper()
	f.Expect(f.read(out+"/recording.jsonl")).To(gomega.Equal(f.read("alone/recording.jsonl")), "the recordings differ")
	for _, r := range f.status().Runs {
		f.Expect(r.State).To(gomega.Equal("done"))
		f.Expect(r.Issued).To(gomega.BeZero())
		f.Expect(r.Done).To(gomega.Equal(r.Trials))
	}
}

func (f *testFleet) read(name string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.dir, name))
	f.Expect(err).NotTo(gomega.HaveOccurred())
	return string(data)
}

// TestFleetInterrupted is H-04: Ctrl-C ends a run quickly, with a valid report; it can be resumed, by one
// process at a time and with the same command line.
func TestFleetInterrupted(t *testing.T) {
	f := newFleet(t)
	args := []string{"slow", "--trials", "300"}
	f.alone(exitPass, args...)
	f.worker()
	run := f.run("spread", args...)
	f.done(10)
	key := f.key()
	second := f.run("second", append(args, "--resume", key)...)
	f.exits(second, exitUsage)
	f.Expect(second.output.String()).To(gomega.ContainSubstring("another coordinator runs " + key))

	f.Expect(run.Process.Signal(os.Interrupt)).To(gomega.Succeed())
	f.exits(run, exitInterrupted)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("--resume " + key))
	f.exits(f.start("report", "spread", "--verify"), exitPass)
	f.Expect(f.status().Runs[0].State).To(gomega.Equal("stopped"))
	f.Expect(f.status().Runs[0].Issued).To(gomega.BeZero())

	other := f.run("other", "slow", "--trials", "299", "--resume", key)
	f.exits(other, exitUsage)
	f.Expect(other.output.String()).To(gomega.ContainSubstring("has other scenarios, trials, labels or prices"))
	f.exits(f.run("spread", append(args, "--resume", key)...), exitPass)
	f.same("spread")
}

// TestFleetCancelled is H-04: queue cancel ends a run for good.
func TestFleetCancelled(t *testing.T) {
	f := newFleet(t)
	worker := f.worker()
	run := f.run("spread", "slow", "--trials", "100000")
	f.done(5)
	key := f.key()
	f.exits(f.start("queue", "cancel", key), exitPass)
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("the run was cancelled with rehearse queue cancel"))
	f.until("the worker is idle", func(s queue.Status) bool { return len(s.Workers) == 1 && s.Workers[0].Running == 0 })
	f.exits(f.start("queue", "cancel", key), exitUsage)
	f.Expect(worker.Process.Signal(os.Interrupt)).To(gomega.Succeed())
	f.exits(worker, exitInterrupted)
	f.Expect(f.status().Workers).To(gomega.BeEmpty())
}

// TestFleetLosesDeadlyTrials is H-04: a trial that kills its workers ends as an error; the others pass.
func TestFleetLosesDeadlyTrials(t *testing.T) {
	f := newFleet(t)
	f.scenario("deadly", "kill -9 $PPID; sleep 60", "")
	ctx, stop := context.WithCancel(t.Context())
	var supervisor sync.WaitGroup
	defer supervisor.Wait()
	defer stop()
	supervisor.Go(func() {
		for ctx.Err() == nil {
			p := f.worker("--slots", "1") // else the trial beside the deadly one dies with it
			select {
			case <-p.ended:
			case <-ctx.Done():
			}
		}
	})
	run := f.run("spread", "slow", "deadly", "--trials", "3", "--max-deaths", "2", "--json")
	f.exits(run, exitNoVerdict)
	f.Expect(f.read("spread/junit.xml")).To(gomega.ContainSubstring("the trial killed its worker 2 times"))
	var report struct {
		Scenarios []struct{ Name, Verdict string }
	}
	f.Expect(json.Unmarshal([]byte(f.read("spread/report.json")), &report)).To(gomega.Succeed())
	verdicts := map[string]string{}
	for _, s := range report.Scenarios {
		verdicts[s.Name] = s.Verdict
	}
	f.Expect(verdicts).To(gomega.Equal(map[string]string{"slow": "pass", "deadly": "error"}))
}

// TestFleetFindsNoWorker is H-04: workers with another build, without the needed tag or with other files get
// no job, and the run says so.
func TestFleetFindsNoWorker(t *testing.T) {
	f := newFleet(t)
	f.scenario("needy", "echo done", "tags: [needs-gpu]\n")
	program, err := exec.LookPath("rehearse")
	f.Expect(err).NotTo(gomega.HaveOccurred())
	data, err := os.ReadFile(program)
	f.Expect(err).NotTo(gomega.HaveOccurred())
	f.Expect(os.MkdirAll(filepath.Join(f.dir, "other"), 0o700)).To(gomega.Succeed())
	other := filepath.Join(f.dir, "other", "rehearse")
	f.Expect(os.WriteFile(other, append(data, 0), 0o700)).To(gomega.Succeed())
	f.startAs(other, "worker")
	run := f.run("spread", "needy", "--max-time", "6s")
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("no worker has --tag gpu, which scenarios of this run need"))

	run = f.run("spread", "slow", "--max-time", "6s")
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("no worker has this build of the program; 1 with another one cannot take part"))

	moved := filepath.Join(f.dir, "moved")
	f.Expect(os.MkdirAll(moved, 0o700)).To(gomega.Succeed())
	here := f.dir
	f.dir = moved
	f.scenario("needy", "echo done, differently", "tags: [needs-gpu]\n")
	f.worker("--tag", "gpu")
	f.dir = here
	run = f.run("spread", "needy", "--max-time", "3s")
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.ContainSubstring("the scenario needy, or a file that it names, differs here"))

	f.worker("--tag", "gpu")
	f.exits(f.run("spread", "needy"), exitPass)
}

// TestFleetNamesLackingWorkers is H-04: the run names the worker that lacks a program, and its scenario is an error.
func TestFleetNamesLackingWorkers(t *testing.T) {
	f := newFleet(t)
	f.write("lacking", "drive: {command: {run: [rehearse-lacks-this], turns: [Go.]}}", "")
	f.worker("--name", "poor")
	run := f.run("spread", "lacking", "slow", "--trials", "5")
	f.exits(run, exitNoVerdict)
	f.Expect(run.output.String()).To(gomega.MatchRegexp(
		`worker poor-\S+: lacking cannot be run here: the program "rehearse-lacks-this" cannot be started: .*; install it`))
	f.Expect(strings.Count(run.output.String(), "cannot be run here")).To(gomega.Equal(1))
	f.Expect(f.read("spread/junit.xml")).To(gomega.ContainSubstring(`tests="2" failures="0" errors="1"`))
}
