package react_test

import (
	"context"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

type args = map[string]any

// calling returns the line of a script that calls tools: pairs of a name and arguments.
func calling(pairs ...any) mocks.Line {
	line := say("x")
	line.Text = ""
	for i := 0; i < len(pairs); i += 2 {
		line.ToolCalls = append(line.ToolCalls, mocks.ScriptedToolCall{Name: pairs[i].(string), Arguments: pairs[i+1].(args)})
	}
	return line
}

const (
	thinking   = "The code base is unknown to me, so I look for eval first."
	reflecting = "src/login.go:12 calls eval; mitigations are still open."
)

// allChecked is a verification that holds.
func allChecked() args {
	part := func(check ...string) args { return args{"check": check, "passed": true} }
	return args{
		"completeness": part("code was searched"), "consistency": part("src/login.go"),
		"correctness": part("line 12 was read"), "constraints": part("at most ten findings: there is one"),
	}
}

// finish returns the arguments of done.
func finish() args {
	return args{"reflection": reflecting, "reason": "confirmed", "verification": allChecked(), "output": report}
}

// newToolRig returns a rig whose model calls tools.
func newToolRig(lines ...mocks.Line) *rig {
	r := newRig()
	r.deps.TakesTools = true
	r.turns = lines
	return r
}

var _ = Describe("An agent with tools", Label("R-01"), func() {
	It("acts, reflects and ends by calls, and gets the results as tool messages", func() {
		r := newToolRig(
			calling("search", args{"thought": thinking, "query": "eval"}),
			calling("files_read", args{"thought": "Line 12 is suspicious.", "reflection": reflecting, "path": "src/login.go"}),
			calling("done", finish()),
		)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(res.Iterations).To(Equal(2))
		Expect(res.Verified).To(BeTrue())
		Expect(res.Output).To(Equal(report))
		Expect(r.set.done).To(Equal([]string{"search", "files.read"}))
		Expect(r.phases()).To(Equal("act reflect reflect"))
		Expect(res.Transcript[0].Input).To(Equal(`{"query":"eval"}`))
		Expect(res.Transcript[0].Reflection).To(Equal(reflecting))
		Expect(res.Transcript[1].Decision).To(Equal("done"))

		last := r.requests[2].Messages
		Expect(last).To(HaveLen(6))
		Expect(last[2].ToolCalls).To(HaveLen(1))
		Expect(last[3].Role).To(Equal(llm.ToolRole))
		Expect(last[3].ToolCallID).To(Equal(last[2].ToolCalls[0].ID))
		Expect(last[3].Content).To(HavePrefix("Observation 1: the action search was done.\n| " + found))
	})

	It("declares its actions with a required thought, and its decisions", Label("R-03", "R-05"), func() {
		r := newToolRig(calling("blocked", args{"reason": "no"}))
		r.agent.Contract.Output = []byte(`{"type": "object", "required": ["findings"]}`)
		Expect(r.run().Status).To(Equal(react.StatusBlocked))
		var names []string
		for _, t := range r.requests[0].Tools {
			names = append(names, t.Name)
			Expect(t.Name).To(MatchRegexp(`^[a-zA-Z0-9_-]{1,64}$`))
		}
		Expect(names).To(Equal([]string{"done", "done_partial", "escalate", "hand_over", "blocked", "search", "files_read", "note"}))
		golden.Expect("system-tools.txt", []byte(r.requests[0].Messages[0].Content))
		tools, err := json.MarshalIndent(r.requests[0].Tools, "", "  ")
		Expect(err).NotTo(HaveOccurred())
		golden.Expect("tools.json", append(tools, '\n'))
	})

	It("uses the first of several calls, and answers the others", func() {
		r := newToolRig(
			calling("search", args{"thought": thinking, "query": "a"}, "search", args{"thought": thinking, "query": "b"}, "done", finish()),
			calling("done", finish()),
		)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(r.set.done).To(Equal([]string{"search"}))
		Expect(refused(res)).To(Equal([]string{""}))
		Expect(res.Transcript[0].Skipped).To(Equal(2))
		messages := r.requests[1].Messages
		Expect(messages).To(HaveLen(6))
		for i := range 3 {
			Expect(messages[3+i].ToolCallID).To(Equal(messages[2].ToolCalls[i].ID))
		}
		Expect(messages[4].Content).To(ContainSubstring("not used: one call at a time"))
		Expect(r.emitted(event.Iteration)[0].Attrs).To(HaveKeyWithValue("skipped", 2))
	})

	DescribeTable("is held to the rules of text, and the error names the call",
		func(line mocks.Line, rule, fault string) {
			r := newToolRig(line, calling("search", args{"thought": thinking, "query": "eval"}), calling("done", finish()))
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusDone))
			Expect(res.Transcript[0].Refused).To(Equal(rule))
			Expect(res.Transcript[0].Fault).To(ContainSubstring(fault))
			Expect(r.asked(2)).To(HavePrefix("That was not accepted: " + res.Transcript[0].Fault))
			Expect(r.set.done).To(Equal([]string{"search"}))
		},
		Entry("no thought", calling("search", args{"query": "x"}), "thought-required", `call search: the action "search" has no thought`),
		Entry("the end before the first action", calling("done", finish()), "too-early", "call done: there is no observation"),
		Entry("an unknown trigger", calling("escalate", args{"reason": "x", "trigger": "danger"}), "unknown-trigger", "call escalate, line 1, column"),
		Entry("text without a step", say("I will look around now."), "no-step", "the answer calls no tool"),
	)

	DescribeTable("after an observation",
		func(line mocks.Line, rule, fault string) {
			r := newToolRig(calling("search", args{"thought": thinking, "query": "eval"}), line, calling("done", finish()))
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusDone))
			Expect(res.Transcript[0].Refused).To(Equal(rule))
			Expect(res.Transcript[0].Fault).To(ContainSubstring(fault))
			Expect(r.set.done).To(Equal([]string{"search"}))
		},
		Entry("an action without a reflection", calling("search", args{"thought": "again", "query": "x"}), "reflection-required", "call search: the last result has not been reflected on"),
		Entry("a complacent one", calling("search", args{"thought": "again", "reflection": "It went well.", "query": "x"}), "complacent-reflection", "call search: it cites nothing"),
	)

	It("refuses broken arguments with their place, and sends valid ones back", func() {
		r := newToolRig(calling("search", args{"thought": "x"}), calling("search", args{"thought": thinking}), calling("done", finish()))
		r.deps.Backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			reply, err := r.Complete(ctx, req)
			if err == nil && len(r.requests) == 1 {
				reply.ToolCalls[0].ID, reply.ToolCalls[0].Arguments = "", `{"thought": "x", "query": "ev`
			}
			return reply, err
		})
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Transcript[0].Refused).To(Equal("json"))
		Expect(res.Transcript[0].Fault).To(HavePrefix("call search, line 1, column 30: the JSON ends too early"))
		sent := r.requests[1].Messages[2].ToolCalls[0]
		Expect(json.Valid([]byte(sent.Arguments))).To(BeTrue())
		Expect(sent.ID).To(Equal(r.requests[1].Messages[3].ToolCallID))
		Expect(sent.ID).NotTo(BeEmpty())
	})

	It("refuses an unknown tool as an unknown action", Label("R-05"), func() {
		r := newToolRig(calling("serach", args{"thought": thinking}), calling("blocked", args{"reason": "x"}))
		r.set.results["serach"] = action.Result{Failed: true, Rule: action.RuleUnknownAction, Observation: `there is no action "serach"`}
		res := r.run()
		Expect(refused(res)).To(Equal([]string{"unknown-action", ""}))
		Expect(res.Transcript[0].Fault).To(HavePrefix("call serach: "))
	})

	It("takes the text beside a call for its thought", Label("R-03"), func() {
		line := calling("search", args{"query": "eval"})
		line.Text = say(thinking).Text
		r := newToolRig(line, calling("done", finish()))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Transcript[0].Thought).To(Equal(thinking))
	})

	It("may answer in text, in any of its forms", func() {
		r := newToolRig(say(searching), say(`{"reflection": "`+reflecting+`", "thought": "on", "action": "search", "action_input": {"query": "y"}}`),
			say("Reflection: "+reflecting+"\nDecision: continue\n\nThought: on: still\nAction: search\nAction Input: {\"query\": \"z\"}\n"), calling("done", finish()))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(refused(res)).To(Equal([]string{"", "", ""}))
		Expect(r.requests[3].Messages[7].Role).To(Equal(llm.User))
	})

	It("passes inputs that have the names of the engine's arguments", func() {
		r := newToolRig(calling("note", args{"thought": "I note.", "input": args{"thought": "hm"}}), calling("blocked", args{"reason": "x"}))
		res := r.run()
		Expect(r.set.done).To(Equal([]string{"note"}))
		Expect(res.Transcript[0].Input).To(Equal(`{"thought":"hm"}`))
	})

	It("revises an output that does not verify", Label("R-08"), func() {
		bad := finish()
		bad["verification"].(args)["constraints"] = args{"check": []string{"there are eleven"}, "passed": false}
		r := newToolRig(calling("search", args{"thought": thinking, "query": "eval"}), calling("done", bad), calling("done", finish()))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(refused(res)).To(Equal([]string{"unverified", ""}))
		Expect(r.asked(3)).To(ContainSubstring("Call done again, with the verification and the whole revised output."))
		Expect(r.phases()).To(Equal("act reflect revise"))
	})

	It("may refer to a file that a tool of a server read", Label("R-08"), func() {
		r := newToolRig(calling("files_read", args{"thought": thinking, "path": "etc/x.conf"}), calling("done", finish()))
		done := r.turns[1].ToolCalls[0].Arguments
		done["verification"].(args)["consistency"] = args{"check": []string{"etc/x.conf"}, "passed": true}
		r.set.results["files.read"] = action.Result{Observation: found}
		Expect(r.run().Status).To(Equal(react.StatusDone))
		r = newToolRig(r.turns...)
		r.set.results["files.read"] = action.Result{Observation: found, Failed: true, Rule: "tool-error"}
		r.options.Revisions = -1
		Expect(r.run().Status).To(Equal(react.StatusPartial))
	})

	It("lists what is missing, hands over and escalates", Label("R-09"), func() {
		partial := finish()
		partial["missing"] = []string{"the imports", "the tests"}
		r := newToolRig(calling("search", args{"thought": thinking, "query": "eval"}), calling("done_partial", partial))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusPartial))
		Expect(res.Missing).To(Equal([]string{"the imports", "the tests"}))

		res = newToolRig(calling("hand_over", args{"agent_id": "lawyer", "task": "Read the licence."})).run()
		Expect(res.Status).To(Equal(react.StatusDelegate))

		res = newToolRig(calling("escalate", args{"reason": "Which branch?", "trigger": "ambiguity"})).run()
		Expect(res.Status).To(Equal(react.StatusEscalate))
		Expect(res.Trigger).To(Equal(react.Ambiguity))
		Expect(res.Question).To(Equal("Which branch?"))
	})

	It("delegates to agents with tools", Label("R-09"), func() {
		r := newToolRig(
			calling("delegate", args{"thought": "The helper knows.", "agent_id": "helper", "task": "help"}),
			calling("blocked", args{"reason": "too hard"}), calling("blocked", args{"reason": "nobody helps"}),
		).with(helper("helper"))
		r.deps.Actions = func(*agentfile.Agent) (action.Set, error) { return r.set, nil }
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBlocked))
		Expect(res.Transcript[0].Observation).To(HavePrefix("The agent helper ended with the status blocked"))
	})

	It("stays within the bounds of a conversation", func() {
		var lines []mocks.Line
		for range 13 {
			lines = append(lines, calling("search", args{"thought": thinking, "reflection": reflecting, "query": strings.Repeat("é", 20_000)}))
		}
		r := newToolRig(lines...)
		r.options.MaxIterations, r.options.Stuck = 12, -1
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusEscalate), res.Details)
		size := 0
		for _, m := range r.requests[11].Messages {
			size += len(m.Content)
			for _, c := range m.ToolCalls {
				size += len(c.Arguments)
				Expect(json.Valid([]byte(c.Arguments))).To(BeTrue())
			}
		}
		Expect(size).To(BeNumerically("<", 300_000))
	})

	It("may be told to write YAML, and refuses a call by its name then", func() {
		r := newToolRig(calling("search", args{"thought": thinking}), say(searching), say(ended))
		r.options.Interface = react.ByYAML
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(r.requests[0].Tools).To(BeEmpty())
		Expect(res.Transcript[0].Fault).To(ContainSubstring(`the answer calls the tool "search", and no tools are offered here`))
		for _, m := range r.requests[2].Messages {
			Expect(m.ToolCalls).To(BeEmpty())
		}
	})

	It("writes YAML if the server rejects tools", func() {
		r := newRig(searching, ended)
		rejecting := llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
			if len(req.Tools) > 0 {
				return llm.Reply{}, &llm.Error{Kind: llm.InvalidRequest, Status: 400, Message: "tiny does not support tools"}
			}
			return r.Complete(ctx, req)
		})
		r.deps.TakesTools, r.deps.Backend = true, rejecting
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone), res.Details)
		Expect(res.Iterations).To(Equal(1))
		Expect(r.requests[0].Messages[0].Content).To(ContainSubstring("Write YAML documents"))
		Expect(r.emitted(event.Guard)).To(ConsistOf(HaveField("Name", "no-tools")))

		r = newRig(searching, ended)
		r.deps.Backend, r.options.Interface = rejecting, react.ByTools
		Expect(r.run().Status).To(Equal(react.StatusError), "the user insists")
	})

	It("is not one of an unknown interface", func() {
		r := newToolRig(say(searching))
		r.options.Interface = "xml"
		Expect(r.run().Err).To(MatchError(ContainSubstring(`interface: "xml" is not an interface; use "tools" or "yaml"`)))
	})
})
