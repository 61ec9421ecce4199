package react_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// pieces are the documents that answers of any run are made of, good and bad.
var pieces = []string{
	searching, reading, goingOn, finished, pleased, verified, doubtful, report, "", "nonsense", "thought: x\n", "action: search\n",
	"thought: ''\naction: search\n", "decision: maybe\n", "verification:\n  nothing: ✓\n", "```yaml\n" + searching + "```\n",
	doing("sniff", "  x: 1"), doing("request_info", "  question: Why?"), doing("escalate", "  reason: A secret."), doing("delegate", "  - x"),
	handing("b"), handing("c"), handing("auditor"), handing("nobody"), passing("b"), passing("c"), passing("auditor"), passing("nobody"),
	deciding("escalate"), deciding("blocked"), deciding("done_partial", "missing: all"), deciding("continue", "trigger: ambiguity"), alarming,
}

// drawn returns a run with random answers and limits.
func drawn(t *rapid.T) *rig {
	r := newRig().with(helper("b"), helper("c"))
	for _, count := range rapid.SliceOfN(rapid.IntRange(1, 4), 0, 30).Draw(t, "answers") {
		r.turns = append(r.turns, say(docs(rapid.SliceOfN(rapid.SampledFrom(pieces), count, count).Draw(t, "documents")...)))
	}
	r.options = react.Options{
		MaxIterations: rapid.IntRange(0, 8).Draw(t, "iterations"), Revisions: rapid.IntRange(-1, 3).Draw(t, "revisions"),
		Stuck: rapid.IntRange(-1, 4).Draw(t, "stuck"), Depth: rapid.IntRange(0, 3).Draw(t, "depth"),
		Reflection: rapid.SampledFrom([]react.Reflection{"", react.Refuse, react.Flag}).Draw(t, "reflection"),
		Timeout:    quantity.Duration(rapid.SampledFrom([]time.Duration{0, 3 * time.Second, time.Hour}).Draw(t, "timeout")),
		Budget:     llm.Caps{Calls: rapid.IntRange(0, 12).Draw(t, "calls")},
	}
	r.set.results["sniff"] = action.Result{Failed: true, Rule: "unknown-action", Observation: "there is no action sniff"}
	if rapid.Bool().Draw(t, "fails") {
		r.set.results["search"] = action.Result{Failed: true, Rule: "timeout", Observation: "no answer from src/login.go:12"}
	}
	if rapid.Bool().Draw(t, "person") {
		r.deps.Person = person(func(string, string) (string, bool) { return "src/login.go:12", true })
	}
	if rapid.Bool().Draw(t, "schema") {
		r.agent.Contract.Output = []byte(`{"type": "string"}`)
	}
	return r
}

// max returns how many iterations an agent may have.
func (r *rig) max(e react.Entry) int {
	if e.Depth > 0 {
		return r.deps.Agents[e.Agent].MaxIterations
	}
	if r.options.MaxIterations > 0 {
		return r.options.MaxIterations
	}
	return r.agent.MaxIterations
}

var _ = Describe("Any run", Label("R-01", "R-02", "R-03", "R-09"), func() {
	It("ends within its limits, and keeps the rules", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			r := drawn(t)
			res := r.run()
			checkEnd(t, r, res)
			checkBounds(t, r, res)
			checkActions(t, r, res)
		})
	})

	It("is repeated by an equal run", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			r := drawn(t)
			again := newRig()
			again.options, again.turns, again.set.results = r.options, r.turns, r.set.results
			again.deps.Person, again.deps.Agents = r.deps.Person, r.deps.Agents
			again.agent = r.agent
			a, b := []any{r.run(), r.events, r.requests}, []any{again.run(), again.events, again.requests}
			if jsonOf(a) != jsonOf(b) {
				t.Fatalf("%s\n%s", jsonOf(a), jsonOf(b))
			}
		})
	})
})

// checkEnd holds how a run ended against the table, and its events against its
// result.
func checkEnd(t *rapid.T, r *rig, res react.Result) {
	known := slices.ContainsFunc(react.Statuses(), func(row run.StatusInfo) bool { return row.Status == res.Status && row.ExitCode == res.ExitCode })
	iterations, ends := r.emitted(event.Iteration), r.emitted(event.End)
	switch {
	case !known || strings.HasPrefix(res.Details, "panic"):
		t.Fatalf("%s with exit code %d: %s", res.Status, res.ExitCode, res.Details)
	case res.Details == "" || res.Next == "" || res.Agent == "":
		t.Fatalf("%+v says too little", res)
	case len(ends) != 1 || r.events[len(r.events)-1].Kind != event.End:
		t.Fatalf("%d events of the end", len(ends))
	case len(iterations) != res.Iterations || len(res.Transcript) != res.Iterations:
		t.Fatalf("%d iterations, %d events, %d entries", res.Iterations, len(iterations), len(res.Transcript))
	case res.Status == react.StatusDone && (!res.Verification.Passed() || res.Output == ""):
		t.Fatalf("done without a verified output: %+v", res)
	case res.Status == react.StatusPartial && (res.Output == "" || len(res.Missing) == 0):
		t.Fatalf("partial without an output or a list of missing parts: %+v", res)
	case res.Status == react.StatusEscalate && res.Question == "":
		t.Fatal("escalated without a question")
	}
}

// checkBounds checks a run against its limits.
func checkBounds(t *rapid.T, r *rig, res react.Result) {
	calls := map[string]int{} // by depth
	for _, e := range res.Transcript {
		if e.N > r.max(e) {
			t.Fatalf("iteration %d of %s, which has %d", e.N, e.Agent, r.max(e))
		}
	}
	for _, req := range r.requests {
		calls[req.Tags["depth"]]++
	}
	root := r.max(react.Entry{})
	switch {
	case calls["0"] > 2*root+1:
		t.Fatalf("%d calls in %d iterations", calls["0"], root)
	case r.options.Budget.Calls > 0 && len(r.requests) > r.options.Budget.Calls:
		t.Fatalf("%d calls of %d", len(r.requests), r.options.Budget.Calls)
	case r.options.Timeout > 0 && res.Duration > r.options.Timeout.Std():
		t.Fatalf("took %s of %s", res.Duration, r.options.Timeout)
	}
}

// checkActions checks that the executed actions are the accepted ones, each with a thought.
func checkActions(t *rapid.T, r *rig, res react.Result) {
	accepted := map[string]int{}
	for _, e := range res.Transcript {
		if e.Action == "" {
			continue
		}
		if strings.TrimSpace(e.Thought) == "" {
			t.Fatalf("%+v has an action without a thought", e)
		}
		accepted[e.Action]++
	}
	done := map[string]int{}
	for _, id := range r.set.done {
		done[id]++
	}
	for _, id := range []string{"search", "analyze", "sniff"} {
		if done[id] > accepted[id] {
			t.Fatalf("%s was done %d times, and accepted %d times", id, done[id], accepted[id])
		}
	}
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// FuzzRun plays any answers, one for each part that a record separator ends.
func FuzzRun(f *testing.F) {
	for _, p := range pieces {
		f.Add(searching + "\x1e" + p + "\x1e" + p)
	}
	f.Add(searching + "\x1e" + docs(goingOn, reading) + "\x1e" + ended)
	f.Add(searching + "\x1e" + docs(finished, verified, "```json\n{\"a\": [1, {\"b\": null}]}\n```") + "\x1e\xff")
	f.Fuzz(func(t *testing.T, script string) {
		r := newRig().with(helper("b"), helper("c"))
		r.agent.Contract.Output = []byte(`{"type": ["object", "array"], "properties": {"a": {"type": "array"}}}`)
		for answer := range strings.SplitSeq(script, "\x1e") {
			r.turns = append(r.turns, say(answer))
		}
		res := r.run()
		if strings.HasPrefix(res.Details, "panic") {
			t.Fatal(res.Err)
		}
		if len(r.emitted(event.End)) != 1 || res.Iterations > 5+2*5*5 {
			t.Fatalf("%d ends, %d iterations", len(r.emitted(event.End)), res.Iterations)
		}
		if res.Status == react.StatusDone && !json.Valid(res.Value) {
			t.Fatalf("done with the value %q", res.Value)
		}
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
