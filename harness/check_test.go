package harness_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/kinds"
)

// testT records the calls of a test's methods. Fatalf and Skipf panic, because those of real tests end
// the goroutine.
type testT struct {
	errors, fatals, skips []string
}

func (t *testT) Helper()                      {}
func (t *testT) Context() context.Context     { return context.Background() }
func (t *testT) Errorf(f string, args ...any) { t.errors = append(t.errors, fmt.Sprintf(f, args...)) }

func (t *testT) Fatalf(f string, args ...any) {
	t.fatals = append(t.fatals, fmt.Sprintf(f, args...))
	runtime.Goexit()
}

func (t *testT) Skipf(f string, args ...any) {
	t.skips = append(t.skips, fmt.Sprintf(f, args...))
	runtime.Goexit()
}

// checked runs Check as a test runner does.
func checked(r harness.Rehearsal) (t *testT, res *harness.Result) {
	t = &testT{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		res = harness.Check(t, r)
	}()
	<-done
	return t, res
}

var _ = Describe("a rehearsal within a test", func() {
	It("passes if all expectations are met", func() {
		t, res := checked(harness.Rehearsal{Text: clerk, Functions: clerks})
		Expect(*t).To(Equal(testT{}))
		Expect(res.Verdict).To(Equal(gate.Pass))
	})

	It("fails the test with a description of the trials, and returns for further assertions", func() {
		t, res := checked(harness.Rehearsal{Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks})
		Expect(res.Verdict).To(Equal(gate.Fail))
		Expect(t.errors).To(Equal([]string{res.String()}))
		Expect(t.errors[0]).To(Equal(`FAIL clerk/hours: done, 2 calls, 16 tokens, 0.0000148 USD, 1h 0m
  ✗ calls: expected exactly 3 calls, saw 2 (expect.calls)
  user     "When do you open?"
  call 1   gpt-4.1-mini, 5 + 3 tokens, 1h 0m: "At nine."
  answer   "At nine."
  user     "And on Sunday?"
  call 2   gpt-4.1-mini, 4 + 4 tokens: "We are closed."
  answer   "We are closed."
  end      done
`))
	})

	It("ends the test if the rehearsal fails", func() {
		t, res := checked(harness.Rehearsal{Text: clerk})
		Expect(res).To(BeNil())
		Expect(t.fatals).To(ConsistOf(ContainSubstring("no Go function is registered")))
	})

	It("fails the test if the verdict is error", func() {
		t, res := checked(harness.Rehearsal{Text: clerk, Functions: map[string]app.Function{
			"clerk": func(context.Context, app.Site, string) (string, error) { return "\xff", nil },
		}})
		Expect(res.Verdict).To(Equal(gate.Error))
		Expect(t.errors).To(ConsistOf(And(HavePrefix("ERROR clerk/hours"), ContainSubstring("not UTF-8"))))
	})

	It("skips the test if all trials were skipped", func() {
		GinkgoT().Setenv("REHEARSE_TEST_POSTGRES", "")
		t, _ := checked(harness.Rehearsal{Files: []string{"interview/store-postgres"}, Kinds: kinds.All()})
		Expect(t.skips).To(ConsistOf(HavePrefix("SKIP interview/store-postgres")))
		Expect(t.errors).To(BeEmpty())
	})
})

var _ = Describe("the recording of a failed rehearsal", func() {
	It("is written to the folder, which the failure names", func(ctx SpecContext) {
		folder := filepath.Join(GinkgoT().TempDir(), "failed")
		t, res := checked(harness.Rehearsal{
			Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks, RecordFailed: folder, Trials: 2,
		})
		Expect(res.Recording).To(Equal(folder))
		Expect(t.errors[0]).To(HaveSuffix("recording: " + folder + " (show it with: rehearse report " + folder + ")\n"))
		whole := filepath.Join(GinkgoT().TempDir(), "all")
		_, err := harness.Rehearse(ctx, harness.Rehearsal{
			Text: strings.Replace(clerk, "calls: 2", "calls: 3", 1), Functions: clerks, Record: whole, Trials: 2,
		})
		Expect(err).NotTo(HaveOccurred())
		want, err := os.ReadFile(filepath.Join(whole, "recording.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.ReadFile(filepath.Join(folder, "recording.jsonl"))).To(Equal(want))
	})

	It("is not written if no trial failed", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "failed")
		_, res := checked(harness.Rehearsal{Text: clerk, Functions: clerks, RecordFailed: folder})
		Expect(res.Recording).To(BeEmpty())
		Expect(folder).NotTo(BeADirectory())
	})
})
