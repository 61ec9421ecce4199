package react_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("The cycle", Label("R-01"), func() {
	It("goes from thought to action to observation to reflection to the end", func() {
		r := newRig(searching, goingOn, reading, finished, docs(verified, report))
		res := r.run()
		Expect(res.Details).To(Equal("completed in iteration 2"))
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.ExitCode).To(Equal(0))
		Expect(r.phases()).To(Equal("act reflect act reflect verify"))
		Expect(r.set.done).To(Equal([]string{"search", "analyze"}))
		Expect(res.Output).To(Equal(report))
		Expect(res.Iterations).To(Equal(2))
		Expect(res.Duration).To(Equal(5 * time.Second))
		Expect(res.Verification.Passed()).To(BeTrue())
		Expect(res.Transcript).To(Equal([]react.Entry{
			{
				N: 1, Agent: "auditor", Thought: "The code base is unknown to me, so I look for eval first.", Action: "search", Input: "query: eval",
				Observation: found, Reflection: "src/login.go:12 calls eval; mitigations are still open.", Decision: "continue", Reason: "mitigations are open",
			},
			{
				N: 2, Agent: "auditor", Thought: "Line 12 is suspicious; I read around it.", Action: "analyze", Input: "target: src/login.go",
				Observation: found, Reflection: "src/login.go:12 calls eval with user input, and nothing guards it.", Decision: "done", Reason: "confirmed",
				At: 2 * time.Second,
			},
		}))
	})

	It("uses every document of an answer, and makes no call for what is there already", func() {
		r := newRig(searching, docs(goingOn, reading), ended)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Iterations).To(Equal(2))
		Expect(r.phases()).To(Equal("act reflect reflect"))
		Expect(refused(res)).To(Equal([]string{"", ""}))
	})

	It("sends the answer and the observation with the next call", func() {
		r := newRig(searching, ended)
		r.run()
		Expect(r.requests[0].Messages).To(HaveLen(2))
		Expect(r.requests[0].Messages[0].Role).To(Equal(llm.System))
		Expect(r.requests[1].Messages).To(HaveLen(4))
		Expect(r.requests[1].Messages[2]).To(Equal(llm.Message{Role: llm.Assistant, Content: searching}))
		Expect(r.asked(2)).To(Equal("Observation 1: the action search was done.\n| " + found +
			"\n\nWrite the reflection on this observation, with decision and reason."))
	})

	It("gives the purpose of each call", func() {
		r := newRig(searching, goingOn, reading, finished, docs(doubtful, report), docs(verified, report))
		r.agent.Model, r.options.Model = "small", ""
		Expect(r.run().Status).To(Equal(react.StatusDone))
		Expect(r.phases()).To(Equal("act reflect act reflect verify revise"))
		for i, iteration := range []string{"1", "1", "2", "2", "2", "3"} {
			req := r.requests[i]
			Expect(req.Purpose).To(Equal("react"))
			Expect(req.Model).To(Equal("small"))
			Expect(req.Tags).To(And(HaveKeyWithValue("agent", "auditor"), HaveKeyWithValue("iteration", iteration), HaveKeyWithValue("depth", "0")))
		}
		r = newRig(searching)
		r.agent.Model, r.options.Model = "small", "large"
		r.run()
		Expect(r.requests[0].Model).To(Equal("large"))
	})

	It("emits its events in order", func() {
		r := newRig(searching, ended)
		var entries []react.Entry
		r.deps.OnIteration = func(e react.Entry) { entries = append(entries, e) }
		var touched []string
		r.deps.Touched = func(paths ...string) { touched = append(touched, paths...) }
		res := r.run()
		Expect(entries).To(Equal(res.Transcript))
		Expect(touched).To(Equal([]string{"src/login.go"}))
		Expect(r.events).To(HaveLen(5))
		Expect(r.events[0]).To(Equal(event.Event{Kind: event.State, Name: "action", N: 1, Detail: found, Attrs: map[string]any{
			"action": "search", "failed": false, "rule": "", "read": 1, "written": 0,
		}}))
		Expect(r.events[1].Name).To(Equal("reflection"))
		Expect(r.events[1].Attrs).To(HaveKeyWithValue("critical", true))
		Expect(r.events[1].Attrs["score"]).To(BeNumerically("<", 0.5))
		Expect(r.events[2]).To(Equal(event.Event{Kind: event.Verdict, Name: "verification", N: 1, Attrs: map[string]any{
			"passed": true, "verified": true, "revision": 0, "completeness": true, "consistency": true, "correctness": true, "constraints": true,
		}}))
		Expect(r.events[3]).To(Equal(event.Event{Kind: event.Iteration, Name: "react", N: 1, Detail: "confirmed", Attrs: map[string]any{
			"agent": "auditor", "action": "search", "decision": "done", "refused": "", "depth": 0,
		}}))
		Expect(r.events[4]).To(Equal(event.Event{Kind: event.End, Name: "done", N: 1, Detail: "completed in iteration 1", Attrs: map[string]any{"exit_code": 0}}))
	})

	It("reads answers as the document has them: in French, with comments, fences and ticks", func() {
		r := newRig(
			"```yaml\n# Itération 1\nstep: 1\nthought: |\n  Je ne connais pas ce code.\n  Je cherche d'abord les appels dangereux.\naction: search\naction_input:\n  query: \"eval|innerHTML\"\n  scope: full_codebase\n```\n",
			"observation: |\n  Un appel à eval.\nreflection: |\n  src/login.go:12 appelle eval avec une entrée de l'utilisateur.\n  Je n'ai pas encore cherché de protection.\ndecision: continue\nreason: \"Besoin de vérifier les protections\"\n\n---\n# Itération 2\nstep: 2\nthought: |\n  Je cherche maintenant ce qui filtre cette entrée.\naction: search\naction_input:\n  query: \"sanitize|escape\"\n",
			"reflection: |\n  Rien ne filtre l'entrée de src/login.go:12 : le problème est confirmé.\ndecision: done\nreason: analyse complète\n\n---\n# Verification\nverification:\n  completeness: ✓ Code analysé, problème listé\n  consistency: ✓ src/login.go correspond au code fourni\n  correctness: ✓ La ligne 12 appelle bien eval\n  constraints: ✓ Un seul problème, dix au plus\n\n---\n# Output final\n{\"findings\": [12]}\n",
		)
		r.agent.Contract.Output = []byte(`{"type": "object", "required": ["findings"]}`)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), "%s", res.Details)
		Expect(refused(res)).To(Equal([]string{"", ""}))
		Expect(res.Value).To(MatchJSON(`{"findings": [12]}`))
		Expect(r.requests).To(HaveLen(3))
	})

	It("runs on the machine's clock where none is given", func() {
		r := newRig(searching, ended)
		r.deps.Clock = nil
		Expect(r.run().Status).To(Equal(react.StatusDone))
	})

	It("gives the same result, call for call, without a sink", func() {
		r, silent := newRig(searching, docs(goingOn, reading), ended), newRig(searching, docs(goingOn, reading), ended)
		silent.deps.Sink = nil
		Expect(r.run()).To(Equal(silent.run()))
		Expect(r.requests).To(Equal(silent.requests))
	})
})

var _ = Describe("Iterations", Label("R-02"), func() {
	// working is n iterations without an end, each with an observation of its own.
	working := func(n int) (answers []string) {
		for range n {
			answers = append(answers, searching, goingOn)
		}
		return answers
	}

	It("are five where nothing else is said, then a person is asked", func() {
		r := newRig(working(6)...)
		r.agent.MaxIterations = 0
		r.options.Stuck = -1
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusEscalate))
		Expect(res.ExitCode).To(Equal(9))
		Expect(res.Trigger).To(Equal(react.Iterations))
		Expect(res.Guard).To(Equal("max-iterations"))
		Expect(res.Iterations).To(Equal(5))
		Expect(res.Question).To(ContainSubstring("The code base is unknown to me"))
		Expect(r.requests).To(HaveLen(10))
		Expect(r.emitted(event.Guard)).To(ConsistOf(HaveField("Name", "max-iterations")))
		Expect(r.emitted(event.HandOver)).To(ConsistOf(HaveField("Attrs", map[string]any{"trigger": "max-iterations", "answered": false})))
	})

	DescribeTable("end the run when they are used up",
		func(own, option, want int) {
			r := newRig(working(9)...)
			r.agent.MaxIterations, r.options.MaxIterations, r.options.Stuck = own, option, -1
			Expect(r.run().Iterations).To(Equal(want))
		},
		Entry("the agent's", 2, 0, 2),
		Entry("the caller's before the agent's", 2, 4, 4),
		Entry("one", 1, 0, 1),
	)

	It("are not needed for an end in the last one", func() {
		r := newRig(append(working(4), searching, finished, docs(verified, report))...)
		r.options.Stuck = -1
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Iterations).To(Equal(5))
	})

	It("do not begin for a step that comes with the last reflection", func() {
		r := newRig(searching, docs(goingOn, reading))
		r.options.MaxIterations = 1
		Expect(r.run().Status).To(Equal(react.StatusEscalate))
		Expect(r.set.done).To(Equal([]string{"search"}))
	})

	It("are used up by steps that are not accepted", func() {
		r := newRig("nonsense", "nonsense", "nonsense", "nonsense", "nonsense", searching)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusEscalate))
		Expect(res.Trigger).To(Equal(react.Iterations))
		Expect(refused(res)).To(HaveEach("no-step"))
		Expect(r.requests).To(HaveLen(5))
	})
})

var _ = Describe("A run that cannot begin", func() {
	DescribeTable("makes no call",
		func(breaks func(*rig), message string, is error) {
			r := newRig(searching, ended)
			breaks(r)
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusError))
			Expect(res.ExitCode).To(Equal(1))
			Expect(res.Err).To(MatchError(ContainSubstring(message)))
			if is != nil {
				Expect(res.Err).To(MatchError(is))
			}
			Expect(r.requests).To(BeEmpty())
			Expect(r.emitted(event.End)).To(HaveLen(1))
		},
		Entry("no agent", func(r *rig) { r.agent = nil }, "no agent is given", react.ErrAgent),
		Entry("no backend", func(r *rig) { r.deps.Backend = nil }, "no backend is given", nil),
		Entry("no actions", func(r *rig) { r.deps.Actions = nil }, "no actions are given", nil),
		Entry("actions that cannot be prepared", func(r *rig) { r.deps.Actions = noActions }, "prepare the actions of auditor: for a test", react.ErrAgent),
		Entry("an unknown policy", func(r *rig) { r.options.Reflection = "strict" }, `reflection: "strict" is not a policy`, nil),
		Entry("iterations below zero", func(r *rig) { r.options.MaxIterations = -1 }, "max_iterations: -1", nil),
		Entry("a depth below zero", func(r *rig) { r.options.Depth = -1 }, "depth: -1", nil),
		Entry("a timeout below zero", func(r *rig) { r.options.Timeout = -1 }, "must not be negative", nil),
		Entry("an input that the contract does not have", func(r *rig) { r.task.Input["cod"] = "x" }, `no input "cod" (did you mean "code"?)`, react.ErrTask),
		Entry("nothing to do", func(r *rig) { r.agent.Contract.Inputs, r.task = nil, react.Task{} }, "nothing is asked for", react.ErrTask),
		Entry("an input that the schema refuses", func(r *rig) {
			r.agent.Contract.InputSchema = []byte(`{"properties": {"code": {"type": "integer"}}}`)
		}, "/code", react.ErrTask),
		Entry("an input schema that is none", func(r *rig) { r.agent.Contract.InputSchema = []byte(`{"required": 7}`) }, "schema", react.ErrAgent),
	)

	It("ends with an error when something given panics", func() {
		r := newRig(searching, ended)
		r.deps.OnIteration = func(react.Entry) { panic("boom") }
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Details).To(Equal("panic: boom"))
		Expect(r.emitted(event.End)).To(HaveLen(1))
	})

	It("ends with an error, and the iteration, when an action panics, also one of another agent", func() {
		r := newRig(handing("helper"), searching, ended).with(helper("helper"))
		r.set.stall = func(context.Context) error { panic("boom") }
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Details).To(Equal("panic: boom"))
		Expect(res.Err).To(MatchError(ContainSubstring("goroutine")), "with the stack")
		Expect(r.emitted(event.Iteration)).To(HaveLen(2))
		Expect(r.emitted(event.End)).To(HaveLen(1))
	})

	It("takes a panic of the backend for a failed call", func() {
		r := newRig()
		r.deps.Backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) { panic("boom") })
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Details).To(Equal("call the backend for auditor, iteration 1: failed: panic: boom"))
		Expect(llm.KindOf(res.Err)).To(Equal(llm.Failed))
	})
})
