package hook_test

import (
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/clock"
)

// crashing is the environment variable that makes this process a guard whose
// judge exhausts the stack.
const crashing = "HOOK_TEST_CRASHING"

func TestMain(m *testing.M) {
	hook.Main()
	if os.Getenv(crashing) != "" {
		hook.Prepare()
		debug.SetMaxStack(1 << 20)
		cfg := hook.Config{State: os.TempDir(), Judge: endless}
		hook.Run(context.Background(), cfg, os.Stdin, os.Stdout, os.Stderr)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// endless calls itself on ever longer messages.
func endless(message string, o stop.Options) stop.Verdict {
	if message == "" {
		return stop.Verdict{}
	}
	v := endless(message+"x", o)
	v.MayStop = !v.MayStop
	return v
}

func TestHook(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/stop/hook")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// deferral returns a message that the specs' judge refuses.
func deferral(what string) string { return "The parser works.\n\nNext I will " + what + "." }

const finished = "All 14 tests pass. Nothing is left to do."

// judge stands for the detector, which has its own specs: it refuses what says
// "Next I will".
func judge(message string, o stop.Options) stop.Verdict {
	const phrase = "Next I will "
	v := stop.Verdict{MayStop: true, Policy: o.Policy, Class: stop.Clean, Score: 0.02}
	start := strings.Index(message, phrase)
	if start < 0 {
		return v
	}
	span := stop.Span{Start: start, End: len(message)}
	v.MayStop, v.Class, v.Score = false, stop.Defers, 0.98
	v.Detections = []stop.Detection{
		{Category: stop.FutureActions, Pattern: "en.next", Span: span, Text: message[start:], Real: true},
		{Category: stop.FutureActions, Pattern: "en.next", Text: "a reference", Real: false},
	}
	v.Steps = []stop.Step{{ID: "1", Description: strings.TrimSuffix(message[start+len(phrase):], "."), Span: span}}
	return v
}

// guard is a guard with the specs' judge, a folder of its own and a clock that
// stands still.
type guard struct {
	hook.Config
}

func newGuard() guard {
	GinkgoHelper()
	return guard{hook.Config{
		State: GinkgoT().TempDir(), Judge: judge,
		Clock: clock.NewVirtual(),
	}}
}

// call runs the guard in process.
func (g guard) call(stdin string) (stdout, stderr string) {
	var out, errs strings.Builder
	hook.Run(context.Background(), g.Config, strings.NewReader(stdin), &out, &errs)
	return out.String(), errs.String()
}

// stop lets an agent stop, and reads the answer as its host does.
func (g guard) stop(h hook.Host, s hook.Stop) (hook.Answer, string) {
	GinkgoHelper()
	stdin, err := h.Input(s)
	Expect(err).NotTo(HaveOccurred())
	stdout, stderr := g.call(string(stdin))
	answer, err := h.ReadAnswer(0, []byte(stdout))
	Expect(err).NotTo(HaveOccurred(), stdout)
	return answer, stderr
}
