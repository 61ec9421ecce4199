package react_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// handing returns a step that delegates to an agent and expects a result.
func handing(to string) string { return doing("delegate", "  agent_id: "+to+"\n  task: Look at it.") }

// passing returns a reflection that hands over to an agent for good.
func passing(to string) string { return deciding("delegate", "agent_id: "+to, "task: Finish it.") }

// with lets the rig's agent delegate to others.
func (r *rig) with(agents ...*agentfile.Agent) *rig {
	r.deps.Agents = map[string]*agentfile.Agent{r.agent.ID: r.agent}
	for _, a := range agents {
		r.deps.Agents[a.ID] = a
	}
	return r
}

// helper returns an agent with a contract of its own.
func helper(id string) *agentfile.Agent {
	return &agentfile.Agent{ID: id, Description: "helps", Body: "You are " + id + ".", MaxIterations: 2, Contract: agentfile.Contract{
		Inputs: []agentfile.Input{{Name: "code", Required: true}, {Name: "limit"}},
	}}
}

// agents returns who made the calls.
func (r *rig) agents() string {
	var all []string
	for _, req := range r.requests {
		all = append(all, req.Tags["agent"]+req.Tags["depth"])
	}
	return strings.Join(all, " ")
}

var _ = Describe("Delegation by an action", Label("R-09"), func() {
	theirs := []string{searching, ended}

	It("returns with the other agent's result as the observation", func() {
		r := newRig(slices.Concat([]string{handing("helper")}, theirs, []string{
			"reflection: helper found eval in src/login.go:12.\ndecision: done\nreason: all is known\n---\n" + verified + "---\nDone, by two.",
		})...).with(helper("helper"))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), "%s", res.Details)
		Expect(res.Agent).To(Equal("auditor"))
		Expect(res.Output).To(Equal("Done, by two."))
		Expect(r.agents()).To(Equal("auditor0 helper1 helper1 auditor0"))
		Expect(r.asked(4)).To(ContainSubstring("| The agent helper ended with the status done: completed in iteration 1\n| Its output:\n| " + report))
		Expect(r.emitted(event.End)).To(HaveLen(1))
		Expect(r.emitted(event.HandOver)).To(ConsistOf(event.Event{
			Kind: event.HandOver, Name: "agent", N: 1, Detail: "completed in iteration 1", Attrs: map[string]any{"to": "helper", "depth": 1, "status": "done"},
		}))
		var who []string
		for _, e := range res.Transcript {
			who = append(who, fmt.Sprint(e.Agent, e.N, e.Depth))
		}
		Expect(who).To(Equal([]string{"auditor1 0", "helper1 1"}))
		Expect(res.Iterations).To(Equal(2))
	})

	It("passes on the inputs that both contracts name, and the given ones", func() {
		r := newRig(slices.Concat([]string{doing("delegate", "  agent_id: helper\n  task: Look.\n  input:\n    limit: 3")}, theirs)...).with(helper("helper"))
		r.task.Input["focus"] = "eval"
		r.run()
		Expect(r.asked(2)).To(HavePrefix("The task:\n| Look.\nInput code:\n| src\nInput limit:\n| 3\n"))
		Expect(r.asked(2)).NotTo(ContainSubstring("focus"))
	})

	It("gives the other agent iterations of its own", func() {
		r := newRig(slices.Concat([]string{handing("helper"), "x", "x"}, []string{deciding("blocked")})...).with(helper("helper"))
		r.options.MaxIterations = 1
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBlocked))
		Expect(r.asked(4)).To(ContainSubstring("| The agent helper ended with the status escalate: stopped after 2 iterations"))
		Expect(r.emitted(event.HandOver, "person")).To(HaveLen(1), "of the helper")
		Expect(r.emitted(event.State, "action")).To(ConsistOf(HaveField("Attrs", And(HaveKeyWithValue("failed", true), HaveKeyWithValue("rule", "delegate-ended")))))
	})

	DescribeTable("is a failed observation where it does not come about, without a call of the other agent",
		func(to, rule, message string, setup func(*rig)) {
			r := newRig(handing(to), deciding("blocked")).with(helper("helper"))
			setup(r)
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusBlocked))
			Expect(r.agents()).To(Equal("auditor0 auditor0"))
			Expect(r.asked(2)).To(ContainSubstring(message))
			Expect(r.emitted(event.State, "action")).To(ConsistOf(HaveField("Attrs", HaveKeyWithValue("rule", rule))))
			Expect(r.emitted(event.HandOver)).To(BeEmpty())
			guards := 0
			if strings.HasPrefix(rule, "delegation-") {
				guards = 1
			}
			Expect(r.emitted(event.Guard, rule)).To(HaveLen(guards))
		},
		Entry("an agent that is not here", "helpr", "unknown-agent", `there is no agent "helpr" here (did you mean "helper"?)`, func(*rig) {}),
		Entry("an agent that the file does not allow", "helper", "delegate-not-allowed", `auditor may not delegate to "helper"; it may to lawyer`,
			func(r *rig) { r.agent.Delegates = []string{"lawyer"} }),
		Entry("itself", "auditor", "delegation-cycle", "in a circle: auditor → auditor", func(*rig) {}),
	)

	It("cuts a cycle before any call of the agent that would be called again", func() {
		r := newRig(handing("b"), handing("c"), handing("auditor"), deciding("blocked"), deciding("blocked"), deciding("blocked")).
			with(helper("b"), helper("c"))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBlocked))
		Expect(r.agents()).To(Equal("auditor0 b1 c2 c2 b1 auditor0"))
		Expect(r.emitted(event.Guard, "delegation-cycle")).To(ConsistOf(HaveField("Detail", HaveSuffix("auditor → b → c → auditor"))))
	})

	It("cuts a cycle that does not include the first agent", func() {
		r := newRig(handing("b"), handing("c"), handing("b"), deciding("blocked"), deciding("blocked"), deciding("blocked")).
			with(helper("b"), helper("c"))
		r.run()
		Expect(r.agents()).To(Equal("auditor0 b1 c2 c2 b1 auditor0"))
		Expect(r.emitted(event.Guard, "delegation-cycle")).To(ConsistOf(HaveField("Detail", HaveSuffix("auditor → b → c → b"))))
	})

	DescribeTable("has a bound on its depth", func(depth int, calls string) {
		r := newRig(handing("b"), handing("c"), handing("d"), handing("e"), handing("f"), deciding("blocked"), deciding("blocked"), deciding("blocked"), deciding("blocked"), deciding("blocked")).
			with(helper("b"), helper("c"), helper("d"), helper("e"))
		r.options.Depth = depth
		r.run()
		Expect(r.agents()).To(HavePrefix(calls))
		Expect(r.emitted(event.Guard, "delegation-depth")).NotTo(BeEmpty())
	},
		Entry("three by default", 0, "auditor0 b1 c2 d3 d3"),
		Entry("one", 1, "auditor0 b1 b1"),
	)

	It("shares one budget", func() {
		r := newRig(slices.Concat([]string{handing("helper")}, theirs)...).with(helper("helper"))
		r.options.Budget = llm.Caps{Calls: 2}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBudget))
		Expect(r.requests).To(HaveLen(2))
		Expect(r.emitted(event.Guard, "budget.calls")).To(HaveLen(1))
		Expect(r.emitted(event.End)).To(HaveLen(1))
	})

	It("shares one deadline", func() {
		r := newRig(slices.Concat([]string{handing("helper")}, theirs)...).with(helper("helper"))
		r.options.Timeout = quantity.Duration(1500 * time.Millisecond)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusTimeout))
		Expect(res.Duration).To(Equal(1500 * time.Millisecond))
		Expect(r.emitted(event.Guard, "timeout")).To(HaveLen(1))
	})

	It("ends the run with an end that the caller forces", func() {
		r := newRig(slices.Concat([]string{handing("helper")}, theirs)...).with(helper("helper"))
		calls := 0
		r.deps.Before = func(kind string) error {
			if calls++; calls > 2 {
				return errTest
			}
			return nil
		}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Err).To(MatchError(errTest))
		Expect(r.emitted(event.HandOver)).To(ConsistOf(HaveField("Attrs", HaveKeyWithValue("status", "error"))))
	})

	It("reports the missing parts of a partial result to the agent", func() {
		r := newRig(handing("helper"), searching, docs(deciding("done_partial", "missing: the imports"), verified, report), deciding("blocked")).with(helper("helper"))
		r.run()
		Expect(r.asked(4)).To(ContainSubstring("Observation 1: the action delegate was done."))
		Expect(r.asked(4)).To(ContainSubstring("| Missing: the imports\n| Its output:\n| " + report))
	})

	It("reports a helper that cannot begin to the agent", func() {
		r := newRig(handing("helper"), handing("helper"), deciding("blocked")).with(helper("helper"))
		delete(r.task.Input, "code")
		r.agent.Contract.Inputs = nil
		r.run()
		Expect(r.asked(2)).To(ContainSubstring("ended with the status escalate: no call was made, as required inputs are missing: code"))

		r = newRig(handing("helper"), deciding("blocked")).with(helper("helper"))
		r.deps.Actions = func(a *agentfile.Agent) (action.Set, error) {
			if a.ID == "helper" {
				return nil, errTest
			}
			return r.set, nil
		}
		Expect(r.run().Status).To(Equal(react.StatusBlocked))
		Expect(r.asked(2)).To(ContainSubstring("ended with the status error: the agent cannot run"))
	})
})

var _ = Describe("Delegation by a decision", Label("R-09"), func() {
	It("makes the other agent's result that of the run", func() {
		r := newRig(searching, passing("helper"), searching, ended).with(helper("helper"))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Agent).To(Equal("helper"))
		Expect(res.Output).To(Equal(report))
		Expect(r.agents()).To(Equal("auditor0 auditor0 helper1 helper1"))
		Expect(r.asked(3)).To(HavePrefix("The task:\n| Finish it.\n"))
		Expect(r.emitted(event.HandOver, "agent")).To(ConsistOf(HaveField("Attrs", map[string]any{"to": "helper", "depth": 1, "status": "done"})))
		Expect(r.emitted(event.End)).To(HaveLen(1))
	})

	It("may be the first answer, and passes on the task if it names none", func() {
		r := newRig("decision: delegate\nagent_id: helper\nreason: not mine\n", searching, ended).with(helper("helper"))
		Expect(r.run().Agent).To(Equal("helper"))
		Expect(r.asked(2)).To(HavePrefix("The task:\n| Audit the code.\n"))
	})

	It("is an end of its own where the agent is not here", func() {
		r := newRig(searching, passing("lawyer"))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDelegate))
		Expect(res.ExitCode).To(Equal(11))
		Expect(res.Agent).To(Equal("auditor"))
		Expect(res.Details).To(Equal("handed over to lawyer: Finish it."))
		Expect(r.emitted(event.HandOver, "agent")).To(ConsistOf(HaveField("Attrs", map[string]any{"to": "lawyer", "depth": 1, "status": "delegate"})))
	})

	It("is refused where the agent file does not allow it", func() {
		r := newRig(searching, passing("helper"), ended).with(helper("helper"))
		r.agent.Delegates = []string{"lawyer"}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"delegate-not-allowed", ""}))
	})

	It("blocks at a cycle, which it names", func() {
		r := newRig(searching, passing("b"), searching, passing("auditor")).with(helper("b"))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBlocked))
		Expect(res.Guard).To(Equal("delegation-cycle"))
		Expect(res.Agent).To(Equal("b"))
		Expect(res.Details).To(HaveSuffix("auditor → b → auditor"))
		Expect(r.requests).To(HaveLen(4))
		Expect(r.emitted(event.Guard, "delegation-cycle")).To(HaveLen(1))
	})

	It("blocks at the bound on depth", func() {
		r := newRig(searching, passing("b"), searching, passing("c")).with(helper("b"), helper("c"))
		r.options.Depth = 1
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBlocked))
		Expect(res.Guard).To(Equal("delegation-depth"))
	})
})
