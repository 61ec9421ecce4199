package drive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	loopkind "github.com/rehearse-dev/rehearse/agents/loop/kind"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// backends are the kinds of backend, with whether their time is real.
var backends = []struct {
	kind     string
	realTime bool
}{{"openai", false}, {"socket", true}, {"claude", true}, {"codex", true}, {"exec", true}}

var _ = Describe("A loop", Label("H-02"), func() {
	for _, b := range backends {
		It("is driven over "+b.kind, func() {
			env := newEnv()
			d := driver(env, "drive: {loop: {prompt: Go on.}}\nbackend: {as: "+b.kind+", model: gpt-4.1-mini, replies: [{text: Working.}, {text: DONE}]}")
			t, timings := d.Trial(context.Background(), 1)
			Expect(t.End).To(And(HaveField("HarnessError", ""), HaveField("Status", "done"), HaveField("Iterations", 2), HaveField("Text", "DONE")))
			Expect(t.Calls).To(HaveLen(2))
			Expect(t.Calls).To(HaveEach(HaveField("Backend", b.kind)))
			Expect(t.Exchanges).To(HaveLen(2))
			Expect(t.Exchanges).To(HaveEach(HaveField("Delivered", true)))
			if b.kind != "exec" { // plain text has no place for usage
				Expect(t.Calls).To(HaveEach(HaveField("Usage", PointTo(And(
					HaveField("Input", BeNumerically(">", 0)), HaveField("Output", BeNumerically(">", 0)))))))
			}
			Expect(d.Head()).To(And(HaveField("Backend", b.kind), HaveField("RealTime", b.realTime), HaveField("Agent", "loop")))
			if !b.realTime {
				Expect(timings).To(BeEmpty())
				return
			}
			Expect(encoded(t)).NotTo(ContainSubstring("_ns"))
			Expect(timings).To(HaveExactElements(
				And(HaveField("Call", 1), HaveField("Trial", 1), HaveField("Scenario", "spec/one")), HaveField("Call", 2), HaveField("Call", 0)))
			Expect(timings).To(HaveEach(HaveField("Latency", BeNumerically(">", 0))))
		})
	}

	It("receives the cost of the answer from a scripted Claude Code", Label("H-04"), func() {
		t := done("drive: {loop: {prompt: Go on.}}\nbackend: {as: claude, model: claude-sonnet-4-5, replies: [{text: DONE, usage: {input: 0, output: 1000}}]}", 1)
		Expect(t.Calls[0].ReportedUSD).To(PointTo(BeNumerically("~", 0.015, 1e-9))) // 15 USD for a million tokens
		t = done("drive: {loop: {prompt: Go on.}}\nbackend: {as: claude, model: in-house-7b, unpriced: true, replies: [{text: DONE}]}", 1)
		Expect(t.Calls[0].ReportedUSD).To(BeNil())
	})

	It("sends the whole conversation to an API, and only the prompt to a command-line agent", func() {
		messages := func(kind string) int {
			t := done("drive: {loop: {prompt: Go on.}}\nbackend: {as: "+kind+", model: gpt-4.1-mini, replies: [{text: Working.}, {text: DONE}]}", 1)
			return len(t.Calls[1].Messages)
		}
		Expect(messages("openai")).To(Equal(3))
		Expect(messages("exec")).To(Equal(1))
	})

	It("takes a field from the options, then from the file", func() {
		t, _ := trial(`
drive: {loop: {prompt: Go on., max_iterations: 2, config: {max_iterations: 9, no_progress_limit: 0}}}
backend: {model: gpt-4.1-mini, replies: [{text: Same., times: 2}]}`, 1)
		Expect(t.End.Status).To(Equal("max-iterations"))
	})

	It("rejects invalid settings", func() {
		sc := scenarios.Scenario{Name: "spec/one", Drive: scenarios.Drive{Kind: "loop", Options: &loopkind.Options{}}}
		_, err := drive.New(sc, newEnv())
		Expect(err).To(MatchError("prompt: is empty; say what the agent is to do"))
	})

	It("does not retry unless the scenario asks for it", func() {
		const text = "drive: {loop: {prompt: Go on.}}\nbackend: {model: gpt-4.1-mini, %s replies: [{text: DONE, fault: {kind: status, status: 503}}]}"
		t, _ := trial(fmt.Sprintf(text, ""), 1)
		Expect(t.End.Status).To(Equal("error"))
		Expect(t.Exchanges).To(HaveLen(1))
		Expect(done(fmt.Sprintf(text, "retry: 1,"), 1).Exchanges).To(HaveLen(2))
	})

	It("charges its budget by the price table", Label("L-11"), func() {
		// gpt-4.1-mini: 1.60 USD for a million tokens of output.
		const text = "drive: {loop: {prompt: Go on., budget: {cost: %s}}}\nbackend: {model: gpt-4.1-mini, replies: [{text: Working., usage: {input: 0, output: 1000}}, {text: DONE, usage: {input: 0, output: 1}}]}"
		t, _ := trial(fmt.Sprintf(text, "0.00159 USD"), 1)
		Expect(t.End).To(And(HaveField("Status", "budget"), HaveField("Iterations", 1)))
		done(fmt.Sprintf(text, "0.00161 USD"), 1)
		// In EUR the same is less, at any rate of this century.
		done(fmt.Sprintf(text, "0.00161 EUR"), 1)
	})

	It("uses the price of the model that answers, not of the requested one", Label("L-11"), func() {
		t, _ := trial(`
drive: {loop: {prompt: Go on., model: gpt-4.1, budget: {cost: 100 USD}}}
backend: {model: in-house-7b, unpriced: true, replies: [{text: Working., usage: {input: 10, output: 10}}]}`, 1)
		Expect(t.End).To(And(HaveField("Status", "budget"), HaveField("Details", ContainSubstring("unknown"))))
	})

	It("is interrupted at the time in the scenario", Label("L-09"), func() {
		t, _ := trial(`
drive: {loop: {prompt: Go on., interrupt_after: 90s}}
backend: {model: gpt-4.1-mini, replies: [{text: Working., latency: 1m}, {text: DONE, latency: 1m}]}`, 1)
		Expect(t.End).To(And(HaveField("Status", "interrupted"), HaveField("ExitCode", 130), HaveField("Duration", 90*time.Second),
			HaveField("Details", ContainSubstring("Ctrl-C, as interrupt_after says"))))
		Expect(t.Calls[1].Error.Kind).To(Equal(record.Cancelled))
	})

	It("is not interrupted if it ends before that time", Label("L-09"), func() {
		t := done(`
drive: {loop: {prompt: Go on., interrupt_after: 90s}}
backend: {model: gpt-4.1-mini, replies: [{text: DONE, latency: 89s}]}`, 1)
		Expect(t.End.Duration).To(Equal(89 * time.Second))
	})

	It("is interrupted in real time, too", Label("L-09"), func() {
		t, timings := trial(`
drive: {loop: {prompt: Go on., interrupt_after: 200ms, timeout: 10s}}
backend: {as: socket, model: gpt-4.1-mini, replies: [{text: DONE, fault: timeout}]}`, 1)
		Expect(t.End.Status).To(Equal("interrupted"))
		Expect(timings[len(timings)-1].Latency).To(BeNumerically(">=", 200*time.Millisecond))
	})

	It("ends when the run's context does", Label("L-09"), func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		t, _ := driver(newEnv(), jittered).Trial(ctx, 1)
		Expect(t.End.Status).To(Equal("interrupted"))
		Expect(t.Calls).To(BeEmpty())
	})

	It("scales latencies in real time", func() {
		_, timings := trial(`
drive: {loop: {prompt: Go on.}}
backend: {as: socket, model: gpt-4.1-mini, time_scale: 0.001, replies: [{text: DONE, latency: 50s}]}`, 1)
		Expect(timings[0].Latency).To(And(BeNumerically(">=", 50*time.Millisecond), BeNumerically("<", 10*time.Second)))
	})
})

var _ = Describe("The head of a scenario", Label("H-04", "H-05"), func() {
	It("describes its trials without the file", func() {
		head := driver(newEnv(), `
about: What it is about.
proves: [L-01]
tags: [golden]
trials: 3
seed: 7
drive: {loop: {prompt: Go on., max_iterations: 4}}
backend: {model: gpt-4.1-mini, replies: [{text: DONE, fault: {kind: status, status: 500, times: 2}}]}
expect: {status: error}
`).Head()
		Expect(head).To(And(
			HaveField("Name", "spec/one"), HaveField("File", "spec.yaml"), HaveField("About", "What it is about."),
			HaveField("Proves", []string{"L-01"}), HaveField("Tags", []string{"golden"}), HaveField("Trials", 3), HaveField("Seed", uint64(7)),
			HaveField("Model", "gpt-4.1-mini"), HaveField("Price.Model", "gpt-4.1-mini"), HaveField("Expect.Status", "error"),
			HaveField("Digest", HavePrefix("sha256:")),
			HaveField("Faults", []record.PlannedFault{{Line: "replies[0]", Kind: "status", Times: 2}}),
		))
		var settings map[string]any
		Expect(json.Unmarshal(head.Limits, &settings)).To(Succeed())
		Expect(settings).To(And(HaveKeyWithValue("max_iterations", 4.0), HaveKeyWithValue("no_progress_limit", 3.0)))
	})

	It("has no price for an unpriced model, and one trial by default", func() {
		head := driver(newEnv(), "drive: {loop: {prompt: Go on.}}\nbackend: {model: in-house-7b, unpriced: true, replies: [{text: DONE}]}").Head()
		Expect(head.Price).To(BeNil())
		Expect(head.Trials).To(Equal(1))
	})
})

var _ = Describe("A problem that the scripted backend found", Label("H-02"), func() {
	It("is recorded", func() {
		sc, found := scenarios.Parse("spec.yaml", []byte("name: spec/one\ndrive: {loop: {prompt: Go.}}\n"+
			"backend: {model: gpt-4.1-mini, replies: [{when: {user: never}, text: DONE, fault: timeout}]}\nexpect: {status: done}"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		t, err := drive.Recorded(sc, newEnv(), func(transport http.RoundTripper) {
			for _, sent := range [][2]string{
				{"chat/completions", `{"model": 1}`},
				{"elsewhere", "{}"},
				{"chat/completions", `{"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "Else."}]}`},
			} {
				r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/v1/"+sent[0], strings.NewReader(sent[1]))
				Expect(err).NotTo(HaveOccurred())
				response, err := transport.RoundTrip(r)
				Expect(err).NotTo(HaveOccurred())
				Expect(response.Body.Close()).To(Succeed())
			}
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Script.Invalid).To(HaveLen(1))
		Expect(t.Script.Unexpected).To(HaveExactElements(ContainSubstring("elsewhere"), ContainSubstring("never")))
		Expect(t.Script.Strays).To(HaveExactElements(ContainSubstring("elsewhere")))
		Expect(t.Script.Unused).To(HaveExactElements(ContainSubstring("replies[0]")))
		Expect(t.Script.Unfired).To(HaveExactElements(ContainSubstring("timeout")))
		Expect(t.Exchanges).To(HaveLen(2))
		Expect(t.Script.Warnings).To(BeEmpty())
	})

	It("is recorded as a warning about a tool that was not offered", func() {
		sc, found := scenarios.Parse("spec.yaml", []byte("name: spec/one\ndrive: {loop: {prompt: Go.}}\n"+
			"backend: {model: gpt-4.1-mini, replies: [{tool_calls: [{name: x}]}]}\nexpect: {status: done}"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		t, err := drive.Recorded(sc, newEnv(), func(transport http.RoundTripper) {
			const body = `{"model": "gpt-4.1-mini", "messages": [{"role": "user", "content": "hi"}]}`
			r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/v1/chat/completions", strings.NewReader(body))
			Expect(err).NotTo(HaveOccurred())
			response, err := transport.RoundTrip(r)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Script.Warnings).To(HaveExactElements(ContainSubstring(`does not offer the tool "x"`)))
		Expect(t.Script.UnofferedTools).To(Equal(t.Script.Warnings))
	})
})

var _ = Describe("Scripted command-line agents", Label("H-02", "L-04"), func() {
	DescribeTable("leave no process behind",
		func(fault string) {
			if runtime.GOOS != "linux" {
				Skip("processes are counted in /proc")
			}
			const name = "REHEARSE_SPEC_MARK" // the agents inherit it
			value := fmt.Sprintf("%s of %d", fault, os.Getpid())
			GinkgoT().Setenv(name, value)
			t, _ := trial("drive: {loop: {prompt: Go on., timeout: 1500ms}}\nbackend: {as: claude, model: claude-sonnet-4-5, replies: [{text: \"Some text.\\nDONE\", fault: "+fault+"}]}", 1)
			Expect(t.Exchanges).To(HaveLen(1), "the agent was started")
			Expect(t.Script.Unfired).To(BeEmpty())
			Eventually(func() []string { return processesWith(name + "=" + value) }).Should(BeEmpty())
		},
		Entry("one that hangs", "hang"), Entry("one that hangs after its answer", "hang-after-output"),
		Entry("one that ignores SIGTERM", "ignore-sigterm"), Entry("one with a child of its own", "grandchild"),
		Entry("one that floods", "flood"),
	)

	It("that cannot be started are an error of the harness with a hint", func() {
		env := newEnv()
		env.Executable = filepath.Join(GinkgoT().TempDir(), "nothing")
		t, timings := driver(env, "drive: {loop: {prompt: Go on.}}\nbackend: {as: exec, model: gpt-4.1-mini, replies: [{text: DONE}]}").Trial(context.Background(), 1)
		Expect(t.End.HarnessError).To(And(
			HavePrefix("start the scripted backend: "), ContainSubstring("nothing"), ContainSubstring("mocks/agent.Main")))
		Expect(t.End.Status).To(Equal("error"))
		Expect(t.Calls).To(BeEmpty())
		Expect(timings).To(BeEmpty())
	})
})

// processesWith lists the processes that have a variable in their environment.
func processesWith(variable string) []string {
	var found []string
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		data, err := os.ReadFile(file) // gone, or another user's
		if err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+variable+"\x00")) {
			found = append(found, filepath.Dir(file))
		}
	}
	return found
}
