package work_test

import (
	"context"
	"errors"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

const auditor = `---
id: auditor
description: Audits code.
max_iterations: 5
contract:
  inputs:
    - {name: code, required: true}
---
# Auditor

You audit code.
`

// What a model might write.
const (
	searching = "thought: |\n  The code is unknown to me, so I look for eval first.\naction: search\naction_input:\n  query: eval\n"
	goingOn   = "reflection: |\n  src/login.go:1 calls eval; the rest is still open.\ndecision: continue\nreason: more to read\n"
	finished  = "reflection: |\n  src/login.go:1 calls eval with user input.\ndecision: done\nreason: confirmed\n"
	verified  = "verification:\n  completeness: ✓ the code was searched for eval\n  consistency: ✓ src/login.go is in the code base\n  correctness: ✓ line 1 was read\n  constraints: ✓ none is broken\n"
	doubtful  = "verification:\n  completeness: ✗ the imports were not looked at\n  consistency: ✓ src/login.go is in the code base\n  correctness: ✓ line 1 was read\n  constraints: ✓ none is broken\n"
	report    = "One finding: eval in src/login.go:1."
)

// look returns a step that searches for a word.
func look(word string) string { return strings.ReplaceAll(searching, "eval", word) }

func docs(documents ...string) string { return strings.Join(documents, "---\n") }

// deciding returns a reflection that ends a run.
func deciding(decision string, keys ...string) string {
	return "reflection: |\n  src/login.go:1 calls eval with user input.\ndecision: " + decision + "\nreason: because of line 1\n" +
		strings.Join(append(keys, ""), "\n")
}

// newAgent returns a rig whose worker is the auditor, in a workspace with one file.
func newAgent(turns ...turn) *rig {
	GinkgoHelper()
	r := newRig(plan.Worker{React: &plan.React{Agent: "agents/auditor.agent.md", Workspace: "code"}}, turns...)
	write(r.deps.Folder, "agents/auditor.agent.md", auditor)
	write(r.deps.Folder, "code/src/login.go", "eval(input)\n")
	return r
}

var _ = Describe("A ReAct agent", func() {
	It("does a task, reports each call, action and file to the meter, and tags its calls", func() {
		r := newAgent(say(searching), say(docs(finished, verified, report)))
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Done), "%+v", out)
		Expect(out.Answer).To(Equal(report))
		Expect(*out.Usage).To(Equal(llm.Usage{Input: 20, Output: 10}))
		Expect(r.meter.calls).To(Equal(3), "two calls and one action")
		Expect(r.meter.active).To(BeNumerically(">=", 2))
		Expect(r.meter.touched).To(ContainElement("src/login.go"))
		for _, req := range r.requests {
			Expect(req.Purpose).To(Equal("react"))
			Expect(req.Tags).To(And(HaveKeyWithValue("task", "build"), HaveKeyWithValue("attempt", "2"), HaveKeyWithValue("segment", "3"), HaveKeyWithValue("agent", "auditor")))
		}
		Expect(r.requests[0].Messages[1].Content).To(And(ContainSubstring("Goal: ship."), ContainSubstring("src")))
		Expect(r.kinds()).NotTo(ContainElement(event.End))
		Expect(r.events[0].Attrs).To(HaveKeyWithValue("task", "build"))
	})

	DescribeTable("is graded by how it ended", func(answers []string, want persist.Grade, details, carry string) {
		var turns []turn
		for _, a := range answers {
			turns = append(turns, say(a))
		}
		out := newAgent(turns...).work()
		Expect(out.Grade).To(Equal(want), "%+v", out)
		Expect(out.Details).To(ContainSubstring(details))
		Expect(out.Carry).To(ContainSubstring(carry))
	},
		Entry("escalate", []string{searching, deciding("escalate", "trigger: security-risk")}, persist.Escalated, "security-risk: ", ""),
		Entry("blocked", []string{searching, deciding("blocked")}, persist.Blocked, "", ""),
		Entry("delegate elsewhere", []string{searching, deciding("delegate", "agent_id: nobody", "task: do it")}, persist.Blocked, "nobody", ""),
		Entry("a part is done", []string{searching, docs(deciding("done_partial", "missing: the imports"), verified, report)}, persist.Failed, "a part", "the imports"),
		Entry("not verified", []string{searching, docs(finished, doubtful, report), docs(doubtful, report)}, persist.Failed, "", "completeness"),
		Entry("too many iterations", []string{look("eval"), docs(goingOn, look("input")), docs(goingOn, look("login")), docs(goingOn, look("none")), docs(goingOn, look("else")), goingOn}, persist.Escalated, "max-iterations: auditor did not finish", ""),
	)

	It("pauses the meter while a person is asked", func() {
		asks := "thought: |\n  Nobody says which branch is meant.\naction: request_info\naction_input:\n  question: Which branch?\n"
		r := newAgent(say(asks), say(docs(finished, verified, report)))
		r.deps.Person = person(func(question string) string {
			Expect(question).To(Equal("Which branch?"))
			Expect(r.meter.paused).To(Equal([]bool{true}))
			return "main"
		})
		out := r.work()
		Expect(out.Grade).NotTo(Equal(persist.Escalated), "%+v", out)
		Expect(r.meter.paused).To(Equal([]bool{true, false}))
	})

	It("ends with the segment, with what it did so far", func() {
		r := newAgent(say(searching), say(docs(goingOn, searching)))
		r.meter.allowed = 3
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Split), "%+v", out)
		Expect(out.Carry).To(ContainSubstring("The code is unknown to me, so I look for eval first.; action search; observation: "))
		Expect(r.requests).To(HaveLen(2))
	})

	DescribeTable("is blocked by what trying again cannot mend, waits for what may be there later, and fails otherwise",
		func(err error, want persist.Grade, later bool) {
			out := newAgent(fail(err)).work()
			Expect(out.Grade).To(Equal(want))
			Expect(out.Later).To(Equal(later))
		},
		Entry("unauthorized", &llm.Error{Kind: llm.Unauthorized}, persist.Blocked, false),
		Entry("refused", &llm.Error{Kind: llm.Refused}, persist.Blocked, false),
		Entry("no line left", &llm.Error{Kind: llm.ScriptExhausted}, persist.Blocked, false),
		Entry("unavailable", &llm.Error{Kind: llm.Unavailable}, persist.Failed, true),
		Entry("rate limited", &llm.Error{Kind: llm.RateLimited}, persist.Failed, true),
		Entry("no answer in time", &llm.Error{Kind: llm.Timeout}, persist.Failed, true),
		Entry("malformed", &llm.Error{Kind: llm.Malformed}, persist.Failed, false),
		Entry("anything", errors.New("x"), persist.Failed, false),
	)

	It("is blocked by a task that lacks an input", func() {
		r := newAgent()
		a := r.assignment()
		a.Task.Input = map[string]any{"code": 1, "unknown": true}
		out := r.worker().Work(context.Background(), a)
		Expect(out.Grade).To(BeElementOf(persist.Blocked, persist.Escalated), "%+v", out)
		Expect(r.requests).To(BeEmpty())
	})

	It("names the shared cap that tripped", func() {
		r := newAgent(say(searching), say(goingOn))
		r.deps.Budget = llm.NewBudget(llm.Caps{Calls: 1}, nil, 0)
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Failed))
		Expect(out.Capped).To(Equal("calls"))
	})

	It("may delegate to the agents beside it", func() {
		r := newAgent(
			say("thought: The reader knows more.\naction: delegate\naction_input:\n  agent_id: reader\n  task: read it\n"),
			say(searching), say(docs(finished, verified, report)), say(docs(finished, verified, report)),
		)
		write(r.deps.Folder, "agents/reader.agent.md", "---\nid: reader\ndescription: Reads.\ncontract: {constraints: [Be quick.]}\n---\nYou read.\n")
		out := r.work()
		Expect(out.Grade).To(Equal(persist.Done), "%+v", out)
		Expect(r.requests[1].Tags).To(And(HaveKeyWithValue("agent", "reader"), HaveKeyWithValue("task", "build")))
	})

	DescribeTable("is not built from", func(prepare func(r *rig), message string) {
		r := newAgent()
		prepare(r)
		_, err := work.Build(r.plan, r.deps)
		Expect(err).To(MatchError(And(HavePrefix("worker w: "), ContainSubstring(message))))
	},
		Entry("a file that is not there", func(r *rig) { r.plan.Workers["w"].React.Agent = "none.agent.md" }, "none.agent.md"),
		Entry("a file outside the folder", func(r *rig) { r.plan.Workers["w"].React.Agent = "../x.agent.md" }, "escapes"),
		Entry("a file that is not valid, with its places", func(r *rig) { write(r.deps.Folder, "agents/auditor.agent.md", "---\nid: A\n---\n") }, "agents/auditor.agent.md:2:5: "),
		Entry("a broken file beside it", func(r *rig) { write(r.deps.Folder, "agents/b.agent.md", "no front matter") }, "agents/b.agent.md"),
		Entry("two of one id", func(r *rig) { write(r.deps.Folder, "agents/b.agent.md", auditor) }, `agents/auditor.agent.md and agents/b.agent.md have the same id "auditor"`),
		Entry("a folder", func(r *rig) { r.plan.Workers["w"].React.Agent = "agents" }, "is not a file"),
		Entry("no folder", func(r *rig) { r.deps.Folder += "/none" }, "open the folder of the agents"),
	)
})

// person answers questions.
type person func(question string) string

func (p person) Ask(_ context.Context, question, _ string) (string, bool) { return p(question), true }
