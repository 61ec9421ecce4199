package drive_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// driven has a scenario of each kind of agent.
var driven = map[string]string{
	"loop":      "drive: {loop: {prompt: Go on., timeout: 10m, call_timeout: 30s}}\nbackend: {model: gpt-4.1-mini, retry: 2, replies: [{text: DONE}]}",
	"hook":      "drive: {hook: {host: claude, prompt: Do it.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: All 3 tests pass.}]}\nexpect: {status: stopped}",
	"interview": "drive: {interview: {persona: lea, retries: 1}}\nbackend: {model: gpt-4.1-mini, cast: lea}\nexpect: {status: finished}",
	"supervise": "drive: {supervise: {plan: {name: g, tasks: [{id: a, do: Do a., retries: 4, timeout: 1h}], limits: {timeout: 2h}}}}\n" +
		"backend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: complete}",
	"react": "drive:\n  react:\n    agent: clerk.agent.md\n    timeout: 5m\n    task: {do: Write a note., input: {topic: tea}}" + clerk +
		"backend:\n  model: gpt-4.1-mini\n  replies:\n" + writes + concludes + "expect: {status: done}\n",
}

func perturbations(texts ...string) []perturb.Perturbation {
	GinkgoHelper()
	ps := make([]perturb.Perturbation, len(texts))
	for i, text := range texts {
		var err error
		ps[i], err = perturb.Parse(text)
		Expect(err).NotTo(HaveOccurred())
	}
	return ps
}

// off returns the driver of a perturbed scenario.
func off(d drive.Driver, texts ...string) drive.Driver {
	GinkgoHelper()
	other, err := d.Perturbed(perturbations(texts...))
	Expect(err).NotTo(HaveOccurred())
	return other
}

const twoCalls = "drive: {loop: {prompt: Go on.}}\nbackend: {model: gpt-4.1-mini, retry: 1, replies: [{text: Working.}, {text: DONE}]}"

var _ = Describe("a perturbed driver", Label("H-04"), func() {
	It("names its perturbations, and does not change the driver of the golden path", func() {
		path := driver(newEnv(), twoCalls)
		before := path.Head()
		other := off(path, "call=2:status,status=503", "call=1:latency,first=7s")
		head := other.Head()
		Expect(head.Name).To(Equal("spec/one [call=2:status,status=503 call=1:latency,first=7s]"))
		Expect(head.Perturb).To(Equal([]string{"call=2:status,status=503", "call=1:latency,first=7s"}))
		Expect(head.Expect).To(BeZero(), "what holds on the path need not hold off it")
		Expect(head.Digest).To(Equal(before.Digest))

		trial, _ := other.Trial(context.Background(), 1)
		Expect(trial.Head.Scenario).To(Equal(head.Name))
		Expect(trial.Calls[0].Latency).To(Equal(7 * time.Second))
		Expect(trial.Calls[1].Retries).To(HaveLen(1))
		Expect(trial.Script.Unfired).To(BeEmpty())
		Expect(trial.Exchanges).To(HaveExactElements(
			And(HaveField("Fault", "latency"), HaveField("Fired", true), HaveField("Delivered", true)),
			And(HaveField("Fault", "status"), HaveField("Fired", true), HaveField("Status", 503)),
			And(HaveField("Fault", ""), HaveField("Delivered", true)),
		))

		Expect(path.Head()).To(Equal(before))
		trial, _ = path.Trial(context.Background(), 1)
		Expect(trial.Exchanges).To(HaveEach(HaveField("Fault", "")))
	})

	It("returns the same driver of the golden path each time", func() {
		path := driver(newEnv(), twoCalls)
		Expect(path.Perturbed(nil)).To(BeIdenticalTo(path))
		other := off(path, "call=1:status")
		Expect(other.Perturbed(nil)).To(BeIdenticalTo(path))
		third := off(other, "call=2:timeout")
		Expect(third.Perturbed(nil)).To(BeIdenticalTo(path))
		Expect(third.Head().Name).To(Equal("spec/one [call=2:timeout]"))
		trial, _ := third.Trial(context.Background(), 1)
		Expect(trial.Exchanges[0].Fault).To(BeEmpty(), "it has nothing of the other one")
		Expect(trial.Script.Unfired).To(BeEmpty())
	})

	It("keeps the name and the expectations of a scenario file with perturbations", func() {
		d := driver(newEnv(), twoCalls+"\nperturb: ['call=2:status']\ninvariants: [calls.total < 3]")
		head := d.Head()
		Expect(head.Name).To(Equal("spec/one"))
		Expect(head.Perturb).To(Equal([]string{"call=2:status"}))
		Expect(head.Expect.Status).To(Equal("done"))
		Expect(head.Invariants).To(Equal([]string{"calls.total < 3"}))
		path, err := d.Perturbed(nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(path.Head().Perturb).To(BeEmpty())
		Expect(path.Head().Name).To(Equal("spec/one"))
		Expect(off(d, "call=1:status").Head().Expect).To(BeZero())
	})

	It("gives the same recording twice", func() {
		path := driver(newEnv(), twoCalls)
		other := off(path, "call=2:reset-mid-stream", "call=1:text-padded")
		first, _ := other.Trial(context.Background(), 1)
		again, _ := off(path, "call=2:reset-mid-stream", "call=1:text-padded").Trial(context.Background(), 1)
		Expect(encoded(again)).To(Equal(encoded(first)))
	})

	It("reports perturbations that did not fire, and counts those that did", func() {
		trial, _ := off(driver(newEnv(), twoCalls), "call=3:status", "call=1:missing-done", "call=2:text-padded").Trial(context.Background(), 1)
		Expect(trial.Script.Perturbed).To(Equal(map[string]int{"call=2:text-padded": 1}))
		Expect(trial.Script.Unfired).To(Equal([]string{
			"call=3:status: no such call was made", "call=1:missing-done: it cannot show in that answer",
		}))
	})

	DescribeTable("refuses an impossible perturbation with the reason",
		func(agent, text, want string) {
			_, err := driver(newEnv(), driven[agent]).Perturbed(perturbations("call=1:status", text))
			Expect(err).To(MatchError(And(ContainSubstring("the perturbation "+text+" is impossible here"), ContainSubstring(want))))
		},
		Entry("a write of a loop", "loop", "write=1:disk-full", "the agent stores nothing on disk"),
		Entry("a call of a tool without MCP servers", "loop", "tool=1:exit", "the scenario has no MCP servers"),
		Entry("a turn of a loop", "loop", "turn=1:double", "the agent has no turns"),
		Entry("a turn of a ReAct agent", "react", "turn=1:reload", "the agent has no turns"),
		Entry("a turn of a hook", "hook", "turn=1:reload", "the agent has no turns"),
		Entry("a turn of a supervisor", "supervise", "turn=1:empty", "the agent has no turns"),
		Entry("a process fault of an API", "interview", "call=2:hang", "only a command-line agent can show"),
	)

	It("refuses an invalid perturbation", func() {
		_, err := driver(newEnv(), twoCalls).Perturbed([]perturb.Perturbation{{At: perturb.Call, N: 1, Do: "status"}})
		Expect(err).To(MatchError(ContainSubstring("missing or of another kind")))
	})

	for agent, text := range driven {
		It("makes a call of "+agent+" fail", func() {
			path := driver(newEnv(), text)
			want, _ := path.Trial(context.Background(), 1)
			Expect(want.End.Status).To(Equal(path.Head().Expect.Status), want.End.Details)
			trial, _ := off(path, "call=1:status,status=503").Trial(context.Background(), 1)
			Expect(trial.End.HarnessError).To(BeEmpty())
			Expect(trial.Script.Unfired).To(BeEmpty())
			Expect(trial.Exchanges[0]).To(And(HaveField("Fault", "status"), HaveField("Fired", true), HaveField("Status", 503)))
		})
	}

	for _, b := range backends {
		It("perturbs "+b.kind, func() {
			text := "drive: {loop: {prompt: Go on., max_iterations: 9}}\nbackend: {model: gpt-4.1-mini, as: " + b.kind + ", replies: [{text: Working.}, {text: DONE}]}"
			path := driver(newEnv(), text)
			kind := "status"
			if b.kind != "openai" && b.kind != "socket" {
				kind = "exit"
			}
			Expect(path.Points().Faults).To(ContainElement(kind))
			trial, _ := off(path, "call=1:text-padded", "call=2:"+kind, "call=2:latency,first=1ms").Trial(context.Background(), 1)
			Expect(trial.Script.Unfired).To(ContainElement(HavePrefix("call=2:latency")), "the loop ends with the fault")
			Expect(trial.Script.Unfired).To(HaveLen(1))
			Expect(trial.Exchanges).To(HaveExactElements(
				And(HaveField("Fault", "text-padded"), HaveField("Fired", true)), And(HaveField("Fault", kind), HaveField("Fired", true)),
			))
		})
	}
})

var _ = Describe("the points of perturbation", Label("H-04"), func() {
	type points struct {
		timeouts          map[string]time.Duration
		attempts          int
		noWrites, noTurns string
	}
	const noWrites, noTurns = "the agent stores nothing on disk", "the agent has no turns"
	DescribeTable("are those of the agent",
		func(agent string, want points) {
			got := driver(newEnv(), driven[agent]).Points()
			Expect(got.Timeouts).To(Equal(want.timeouts))
			Expect(got.Attempts).To(Equal(want.attempts))
			Expect(got.NoWrites).To(Equal(want.noWrites))
			Expect(got.NoTurns).To(Equal(want.noTurns))
			Expect(got.Faults).To(Equal(mocks.APIFaults()))
		},
		Entry("a loop", "loop", points{timeouts: map[string]time.Duration{"timeout": 10 * time.Minute, "call_timeout": 30 * time.Second}, attempts: 3, noWrites: noWrites, noTurns: noTurns}),
		Entry("a hook", "hook", points{attempts: 1, noWrites: noWrites, noTurns: noTurns}),
		Entry("a ReAct agent", "react", points{timeouts: map[string]time.Duration{"timeout": 5 * time.Minute, "call_timeout": 5 * time.Minute}, attempts: 1, noWrites: noWrites, noTurns: noTurns}),
		Entry("an interview", "interview", points{timeouts: map[string]time.Duration{"call_timeout": time.Minute}, attempts: 6}),
		Entry("a supervisor", "supervise", points{timeouts: map[string]time.Duration{
			"limits.timeout": 2 * time.Hour, "limits.stagnation": 10 * time.Minute, "limits.no_progress": 2 * time.Hour, "tasks.a.timeout": time.Hour,
		}, attempts: 5, noTurns: noTurns}),
	)

	It("include the faults of a process if the backend is one", func() {
		d := driver(newEnv(), "drive: {loop: {prompt: x, timeout: 0s}}\nbackend: {model: gpt-4.1-mini, as: exec, replies: [{text: DONE}]}")
		Expect(d.Points().Faults).To(Equal(mocks.ProcessFaults()))
		Expect(d.Points().Timeouts).To(BeEmpty())
	})

	It("have timeouts that cancel slower calls, and no faster ones", func() {
		text := "drive: {loop: {prompt: Go on., call_timeout: 30s}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}"
		path := driver(newEnv(), text)
		limit := path.Points().Timeouts["call_timeout"]
		status := func(d time.Duration) (string, record.Exchange) {
			p := perturb.Perturbation{At: perturb.Call, N: 1, Do: perturb.Latency}
			Expect(p.First.UnmarshalText([]byte(d.String()))).To(Succeed())
			other, err := path.Perturbed([]perturb.Perturbation{p})
			Expect(err).NotTo(HaveOccurred())
			trial, _ := other.Trial(context.Background(), 1)
			Expect(trial.Script.Unfired).To(BeEmpty())
			return trial.End.Status, trial.Exchanges[0]
		}
		ended, x := status(limit - 1)
		Expect(ended).To(Equal("done"))
		Expect(x.Delivered).To(BeTrue())
		ended, x = status(limit + 1)
		Expect(ended).NotTo(Equal("done"))
		Expect(x.HungUp).To(BeTrue())
	})
})
