package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
)

// killAt names the variable that makes this test binary run an experiment and kill itself.
// Its value names the file, the journal, and the number of trials.
const killAt = "REHEARSE_KILL_EXPERIMENT"

func killed() {
	order := strings.Split(os.Getenv(killAt), "\n")
	if len(order) != 3 {
		return
	}
	after, _ := strconv.Atoi(order[2])
	e, found := experiment.Load(order[0], kinds.Language(), options())
	prices, err := price.Default()
	if found != nil || err != nil {
		fmt.Fprintln(os.Stderr, found, err)
		os.Exit(2)
	}
	made := 0
	_, err = e.Run(context.Background(), experiment.Options{
		Env: &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}, Workers: 2, Journal: order[1], Tool: "rehearse spec",
		Progress: func(experiment.Progress) {
			if made++; made == after {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // until it arrives
			}
		},
	})
	fmt.Fprintln(os.Stderr, err)
	os.Exit(0)
}

var _ = Describe("The journal of an experiment", Label("H-07"), func() {
	var path, file string
	BeforeEach(func() {
		path = write(first + "stop: {looks: 4, spending: pocock}\nseed: 3\n")
		file = filepath.Join(GinkgoT().TempDir(), "journal.jsonl")
	})

	resume := func() result.Experiment {
		GinkgoHelper()
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found).To(BeEmpty())
		res, err := e.Run(context.Background(), with(journal(file)))
		Expect(err).NotTo(HaveOccurred())
		return res
	}
	whole := func() string {
		GinkgoHelper()
		e, found := experiment.Load(path, kinds.Language(), options())
		Expect(found).To(BeEmpty())
		res, err := e.Run(context.Background(), with())
		Expect(err).NotTo(HaveOccurred())
		return encoded(res)
	}

	It("resumes it after each kill -9, with the same result", func() {
		want := whole()
		for _, after := range []int{1, 60, 100} {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), killAt+"="+strings.Join([]string{path, file, strconv.Itoa(after)}, "\n"))
			output, err := cmd.CombinedOutput()
			Expect(err).To(MatchError("signal: killed"), string(output))
		}
		Expect(encoded(resume())).To(Equal(want))
		before, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(encoded(resume())).To(Equal(want), "when nothing is left to do")
		Expect(os.ReadFile(file)).To(Equal(before))
		Expect(os.WriteFile(file, append(before, `{"variant":"old","scen`...), 0o600)).To(Succeed())
		Expect(encoded(resume())).To(Equal(want), "when nothing is left to do, and a line was torn")
		Expect(os.ReadFile(file)).To(Equal(before))
	})

	It("leads to the same result wherever it is truncated", func() {
		want := encoded(resume())
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		r := rand.New(rand.NewPCG(1, 1))
		for range 6 {
			cut := r.IntN(len(data))
			torn := append([]byte(nil), data[:cut]...)
			if cut > 400 && cut%2 == 0 { // blocks that came to the disk in another order
				torn = append(torn, "\x00\x00\x00\n"...)
			}
			Expect(os.WriteFile(file, torn, 0o600)).To(Succeed())
			Expect(encoded(resume())).To(Equal(want), "cut at %d", cut)
			Expect(os.ReadFile(file)).To(Equal(data))
		}
	})

	It("shows that variants alternate in a changing order", func() {
		resume()
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		type line struct {
			Variant, Scenario string
			Trial             int
		}
		var all []line
		for text := range strings.Lines(string(data)) {
			if strings.HasPrefix(text, `{"variant"`) {
				var l line
				Expect(json.Unmarshal([]byte(text), &l)).To(Succeed())
				all = append(all, l)
			}
		}
		Expect(len(all) % 6).To(BeZero())
		begins := map[string]bool{}
		for i, o := range all {
			Expect(o.Trial).To(Equal(i/6 + 1))
			Expect(o.Scenario).To(Equal([]string{"sim/one", "sim/two"}[i/3%2]))
			if i%3 == 0 {
				begins[o.Variant] = true
				Expect([]string{o.Variant, all[i+1].Variant, all[i+2].Variant}).To(ConsistOf("old", "good", "turned"))
			}
		}
		Expect(begins).To(HaveLen(3))
	})

	It("continues after an interruption, which decides nothing", func() {
		want := whole()
		e, _ := experiment.Load(path, kinds.Language(), options())
		ctx, cancel := context.WithCancel(context.Background())
		res, err := e.Run(ctx, with(journal(file), func(o *experiment.Options) {
			o.Progress = func(p experiment.Progress) {
				if p.Trials == 2 {
					cancel()
				}
			}
		}))
		Expect(err).NotTo(HaveOccurred())
		Expect(res.Stopped.As).To(Equal(result.Interrupted))
		Expect(res.Stopped.Trials).To(And(BeNumerically(">=", 2), BeNumerically("<", 240)))
		Expect(res.Looks).To(BeEmpty())
		for _, c := range res.Comparisons {
			Expect(c.Verdict).To(Equal(result.Undecided))
			Expect(c.P).To(BeNil())
		}
		Expect(encoded(resume())).To(Equal(want))
	})

	It("records how a cap ended it", func() {
		capped := with(journal(file), workers(1))
		capped.Caps.Calls = 77
		e, _ := experiment.Load(path, kinds.Language(), options())
		first, err := e.Run(context.Background(), capped)
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Stopped.As).To(Equal(result.Capped))
		before, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		for _, n := range []int{1, 3} {
			capped.Workers = n
			capped.Progress = func(experiment.Progress) { Fail("a trial was made") }
			again, err := e.Run(context.Background(), capped)
			Expect(err).NotTo(HaveOccurred())
			Expect(encoded(again)).To(Equal(encoded(first)))
			Expect(os.ReadFile(file)).To(Equal(before))
		}
		capped.Caps.Calls = 78
		_, err = e.Run(context.Background(), capped)
		Expect(err).To(MatchError(ContainSubstring("its caps differ")))
	})

	DescribeTable("of another experiment is rejected",
		func(change func(), want string) {
			resume()
			change()
			e, found := experiment.Load(path, kinds.Language(), options())
			Expect(found).To(BeEmpty())
			_, err := e.Run(context.Background(), with(journal(file)))
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("another file", func() { edit(path, "smallest_effect: 0.1", "smallest_effect: 0.2") }, "has changed since"),
		Entry("another scenario", func() { edit(filepath.Join(filepath.Dir(path), "one.yaml"), "seed: 1", "seed: 9") }, "has changed since"),
		Entry("another prompt", func() { edit(filepath.Join(filepath.Dir(path), "prompts/good.md"), "Fix", "Mend") }, "has changed since"),
		Entry("another program", func() { edit(file, "rehearse spec", "rehearse old") }, "made by rehearse old"),
		Entry("a damaged line", func() { edit(file, `"trial":2`, `"trial":`) }, "the line is damaged"),
		Entry("a trial that is missing", func() { edit(file, `"trial":2`, `"trial":7`) }, "is out of order"),
		Entry("no journal at all", func() { edit(file, "experiment-journal", "other") }, "is not a journal of an experiment"),
	)
})

// edit changes a file.
func edit(path, old, now string) {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, []byte(replace(string(data), old, now)), 0o600)).To(Succeed())
}
