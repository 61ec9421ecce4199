package kinds_test

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	interview "github.com/rehearse-dev/rehearse/agents/interview/kind"
	persist "github.com/rehearse-dev/rehearse/agents/persist/kind"
	react "github.com/rehearse-dev/rehearse/agents/react/kind"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
)

type change = func(*measure.Facts)

// edge is a pair of runs at the two sides of an invariant's limit. Both are the golden
// run of base with one perturbation and the changes that the field makes to it.
type edge struct {
	about         string
	breaks, holds change
	// golden changes the golden run, and with it both sides.
	golden change
}

// goodStatus is how a run of each kind of agent ends when all went well.
var goodStatus = map[string]string{
	"function": "done", "command": "done", "http": "done", "container": "done", "coding": "done",
	"loop": "done", "hook": "stopped", "interview": "finished", "supervise": "complete", "react": "done",
}

// callsPerPerturbation returns how many more calls one perturbation may cost.
func callsPerPerturbation(agent string) int {
	switch agent {
	case "interview":
		return 1
	case "supervise":
		return 5
	default:
		return 2
	}
}

const (
	goldenText  = "All tests pass.\nDONE"
	goldenCalls = 10
)

// base returns a golden run with 10 calls, 0.1 USD and one perturbation that changed nothing.
func base(agent string) measure.Facts {
	return measure.Facts{
		Run:     measure.RunFacts{Status: goodStatus[agent], Text: goldenText, Perturbed: 1},
		Calls:   measure.CallFacts{Total: goldenCalls, Finish: "stop"},
		Cost:    measure.CostFacts{Known: true, USD: 0.1, Most: 0.01},
		Answers: []string{"I look.", goldenText},
		Extensions: map[string]any{
			"interview": &interview.InterviewFacts{Answers: 4},
			"supervise": &persist.SuperviseFacts{Planned: 3, Longest: 2, Journal: "j1", Last: map[string]string{"tests": "pass"}},
			"react":     &react.ReactFacts{Verified: true},
		},
		Turns: []measure.TurnFacts{{N: 1, User: "Go.", Text: goldenText}},
		Files: map[string]string{"out.txt": "it"},
	}
}

// fails returns a run that ended early, with a call that failed in that way.
func fails(kind, details string) change {
	return func(f *measure.Facts) {
		f.Run.Status, f.Run.ExitCode, f.Run.Details = "error", 1, details
		f.Calls.Failed, f.Calls.Errors = 1, map[string]int{kind: 1}
	}
}

func total(n int) change      { return func(f *measure.Facts) { f.Calls.Total = n } }
func failed(n int) change     { return func(f *measure.Facts) { f.Calls.Failed = n } }
func cost(usd float64) change { return func(f *measure.Facts) { f.Cost.USD = usd } }
func resumed(status string) change {
	return func(f *measure.Facts) { f.Run.Status, f.Run.Resumed = "error", status }
}
func unchanged(*measure.Facts)         {}
func inARow(n int) change              { return func(f *measure.Facts) { f.Calls.InARow = n } }
func forgot(messages ...string) change { return func(f *measure.Facts) { f.Run.Forgot = messages } }

// silent returns a run of which an agent ended with an error, and a change.
func silent(c change) change {
	return func(f *measure.Facts) {
		f.Run.Status, f.Run.ExitCode, f.Run.Details = "crashed", 1, "it went away"
		c(f)
	}
}

func interviewOf(f *measure.Facts) *interview.InterviewFacts {
	return f.Extensions["interview"].(*interview.InterviewFacts)
}

func superviseOf(f *measure.Facts) *persist.SuperviseFacts {
	return f.Extensions["supervise"].(*persist.SuperviseFacts)
}

func reactOf(f *measure.Facts) *react.ReactFacts { return f.Extensions["react"].(*react.ReactFacts) }

// edgesOfAll returns those of the invariants that hold of every kind of agent.
func edgesOfAll(agent string) map[string][]edge {
	k := callsPerPerturbation(agent)
	most := 2 * (0.1 + 0.01*float64(k)) // the cost of the golden run and of k more of its dearest calls, twice
	return map[string][]edge{
		"harmless-faults": {
			{about: "one failure for each perturbation", breaks: failed(2), holds: failed(1)},
			{
				about: "one more for each call that the script has no line for", breaks: failed(3), holds: failed(2),
				golden: func(f *measure.Facts) { f.Script.Unexpected = []string{"call 4"} },
			},
		},
		"bounded-calls": {{about: "what one perturbation may cost", breaks: total(goldenCalls + k + 1), holds: total(goldenCalls + k)}},
		"bounded-cost":  {{about: "twice the golden cost and that of the extra calls", breaks: cost(most + 0.0001), holds: cost(most - 0.0001)}},
		"error-shown": {{
			about:  "a run that did not go well has details",
			breaks: func(f *measure.Facts) { f.Run.ExitCode = 1 },
			holds:  func(f *measure.Facts) { f.Run.ExitCode, f.Run.Details = 1, "stopped" },
		}},
		"cause-named": {
			{about: "the kind of the call's error", breaks: fails("rate-limited", "it went wrong"), holds: fails("rate-limited", "rate-limited: wait")},
			{about: "another kind than the call's", breaks: fails("rate-limited", "refused"), holds: fails("refused", "refused")},
		},
		"never-hangs": {{
			about:  "the clock that stands still",
			breaks: func(f *measure.Facts) { f.Run.Details = "virtual clock stalled: 2 wait" },
			holds:  func(f *measure.Facts) { f.Run.Details = "timeout" },
		}},
		"true-exit-code": {
			{about: "0 for a run that failed", breaks: func(f *measure.Facts) { f.Run.Status = "error" }, holds: fails("timeout", "timeout")},
			{about: "1 for a run that went well", breaks: func(f *measure.Facts) { f.Run.ExitCode = 1 }, holds: unchanged},
		},
	}
}

// resumable returns the edges of interviews and supervised plans.
func resumable(agent string) []edge {
	return []edge{
		{about: "ends otherwise", breaks: resumed("error"), holds: resumed(goodStatus[agent])},
		{about: "is never resumed", breaks: resumed(""), holds: unchanged},
	}
}

// edgesOf returns those of the invariants of one kind of agent.
func edgesOf(agent string) map[string][]edge {
	switch agent {
	case "loop":
		return map[string][]edge{"done-is-true": {
			{about: "another text", breaks: earlier, holds: unchanged},
			{about: "a cut answer", breaks: cutOff, holds: unchanged},
			{about: "a filtered answer", breaks: func(f *measure.Facts) { f.Calls.Finish = "content_filter" }, holds: unchanged},
			{about: "a failed last call", breaks: lastFailed, holds: unchanged},
		}}
	case "hook":
		return map[string][]edge{"done-is-true": {{about: "another text", breaks: earlier, holds: unchanged}}}
	case "interview":
		return interviewEdges
	case "supervise":
		return superviseEdges
	case "react":
		return map[string][]edge{
			"done-is-true": {{about: "another text", breaks: earlier, holds: unchanged}},
			"done-is-verified": {
				{about: "verification that does not hold", breaks: func(f *measure.Facts) { reactOf(f).Verified = false }, holds: unchanged},
				{
					about: "a run that is not done", breaks: func(f *measure.Facts) { reactOf(f).Verified = false },
					holds: func(f *measure.Facts) { reactOf(f).Verified, f.Run.Status = false, "done_partial" },
				},
			},
		}
	default:
		return map[string][]edge{
			"answer-is-whole": {{
				about: "a part of the answer", breaks: func(f *measure.Facts) { f.Run.Text = "All tests" },
				holds: func(f *measure.Facts) { f.Run.Text = "Some tests" },
			}},
			"error-shown": {
				{
					about: "an agent that ended and gave no reason", breaks: silent(func(f *measure.Facts) { f.Run.Silent = true }),
					holds: silent(unchanged),
				},
				{
					about: "an end that the golden run does not have", breaks: silent(func(f *measure.Facts) { f.Run.Silent, f.Run.ExitCode = true, 7 }),
					holds:  silent(func(f *measure.Facts) { f.Run.Silent = true }),
					golden: silent(unchanged),
				},
			},
			"tool-failure-told": {{
				about: "a failure that the model does not know", breaks: func(f *measure.Facts) { f.Run.Hidden = []string{"refund"} }, holds: unchanged,
			}},
			"gives-up": {
				{about: "20 failures in a row", breaks: inARow(20), holds: inARow(19)},
				{about: "as many as on the golden path", breaks: inARow(25), holds: inARow(24), golden: inARow(24)},
			},
			"restart-remembered": {
				{
					about: "a message that the turn has on the golden path", breaks: forgot("turn 1 in turn 3"), holds: forgot("turn 1 in turn 2"),
					golden: func(f *measure.Facts) { f.Run.Recalled = []string{"turn 1 in turn 3"} },
				},
			},
			"said-is-done":   {{about: "a file that is missing", breaks: func(f *measure.Facts) { f.Files = nil }, holds: unchanged}},
			"turns-answered": {{about: "a turn without a word", breaks: func(f *measure.Facts) { f.Turns = []measure.TurnFacts{{N: 1}} }, holds: unchanged}},
		}
	}
}

var interviewEdges = map[string][]edge{
	"finished-is-true": {{about: "another profile", breaks: earlier, holds: unchanged}},
	"no-answer-lost": {
		{
			about: "an answer fewer", breaks: func(f *measure.Facts) { interviewOf(f).Answers = 3 },
			holds: func(f *measure.Facts) { interviewOf(f).Answers, f.Run.Status = 3, "left" },
		},
		{about: "fewer questions, which texts of the prompts replaced", breaks: fallback(1, 3, 4), holds: fallback(1, 3, 3)},
		{about: "fewer questions without such a text", breaks: fallback(0, 3, 3), holds: fallback(0, 4, 4)},
	},
	"no-answer-twice": {{about: "an answer more", breaks: func(f *measure.Facts) { interviewOf(f).Answers = 5 }, holds: unchanged}},
	"resumable":       resumable("interview"),
	"queued-questions-are-free": {{
		about: "one call for a queued question", breaks: func(f *measure.Facts) { interviewOf(f).QueuedCalls = 1 },
		holds: func(f *measure.Facts) { interviewOf(f).Queued = 1 },
	}},
	"nothing-asked-twice": {
		{about: "one call for one perturbation", breaks: total(goldenCalls + 2), holds: total(goldenCalls + 1)},
		{
			about: "and one for each retry and each lost call", breaks: total(goldenCalls + 5), holds: total(goldenCalls + 4),
			golden: func(f *measure.Facts) {
				interviewOf(f).TransportRetries, interviewOf(f).ValidationRetries, interviewOf(f).Lost = 1, 1, 1
			},
		},
	},
}

var superviseEdges = map[string][]edge{
	"complete-is-true": {{
		about: "an open task", breaks: func(f *measure.Facts) { superviseOf(f).Open = 1 },
		holds: func(f *measure.Facts) { superviseOf(f).Open, f.Run.Status = 1, "blocked" },
	}},
	"resumable":          resumable("supervise"),
	"checked-at-the-end": {{about: "a check that failed last", breaks: lastCheck("fail"), holds: lastCheck("unknown")}},
	"no-task-left-out":   {{about: "a task of the plan", breaks: func(f *measure.Facts) { superviseOf(f).Planned = 2 }, holds: func(f *measure.Facts) { superviseOf(f).Planned = 4 }}},
	"done-is-answered": {
		{about: "an answered call fewer", breaks: failed(1), holds: func(f *measure.Facts) { f.Calls.Total, f.Calls.Failed = goldenCalls+1, 1 }},
	},
	"journal-undisturbed": {
		{about: "another journal after a crash", breaks: crashed("write=3:crash-before", "j2"), holds: crashed("write=3:crash-before", "j1")},
		{about: "the journal after something else", breaks: crashed("write=3:crash-after", "j2"), holds: crashed("turn=3:leave", "j2")},
	},
	// A perturbation may cost the longest attempt of the golden run, if that is more than 5 calls.
	"bounded-calls": {{
		about: "a long attempt", breaks: total(goldenCalls + 8), holds: total(goldenCalls + 7),
		golden: func(f *measure.Facts) { superviseOf(f).Longest = 7 },
	}},
	"bounded-cost": {{about: "a long attempt", breaks: cost(0.3401), holds: cost(0.3399), golden: func(f *measure.Facts) { superviseOf(f).Longest = 7 }}},
}

// fallback returns an interview with so many texts of the prompts in the place of the model's,
// and answers that are stored and that were given.
func fallback(n, stored, given int) change {
	return func(f *measure.Facts) {
		interviewOf(f).Fallbacks, interviewOf(f).Answers, interviewOf(f).Answered = n, stored, given
	}
}

func lastCheck(says string) change {
	return func(f *measure.Facts) { superviseOf(f).Last = map[string]string{"tests": says} }
}

func crashed(where, journal string) change {
	return func(f *measure.Facts) { f.Run.Struck, superviseOf(f).Journal = map[string]int{where: 1}, journal }
}

// earlier ends a run with the answer before the last.
func earlier(f *measure.Facts) {
	f.Answers = f.Answers[:len(f.Answers)-1]
	f.Run.Text = f.Answers[len(f.Answers)-1]
}

func lastFailed(f *measure.Facts) {
	f.Calls.Failed, f.Calls.LastError, f.Calls.Errors = 1, "unauthorized", map[string]int{"unauthorized": 1}
}

func cutOff(f *measure.Facts) { f.Calls.Finish = "length" }

func fired(kind string) change {
	return func(f *measure.Facts) { f.Script.Fired = map[string]int{kind: 1} }
}

// names returns the kinds of agents, sorted.
func names() (names []string) {
	for _, kind := range kinds.All() {
		names = append(names, kind.Name)
	}
	slices.Sort(names)
	return names
}

// brokenBy lists the ids of the shipped invariants that a run breaks.
func brokenBy(agent string, e edge, side change) []string {
	GinkgoHelper()
	s := record.Scenario{Agent: agent, Perturb: []string{"call=2:status"}, Invariants: kinds.Language().Invariants(agent)}
	j, err := gate.ForScenario(kinds.Language(), &s)
	Expect(err).NotTo(HaveOccurred())
	golden, f := base(agent), base(agent)
	if e.golden != nil {
		e.golden(&golden)
		e.golden(&f)
	}
	side(&f)
	f.Golden = measure.GoldenOf(&golden)
	var ids []string
	for _, finding := range j.Judge(f) {
		Expect(finding.Severity).To(Equal(gate.Failing), "%s", finding.Evidence)
		id, _, _ := strings.Cut(finding.Message, ": ")
		ids = append(ids, id)
	}
	return ids
}

var _ = Describe("Each shipped invariant", Label("H-04"), func() {
	for _, agent := range names() {
		It("is broken just beyond its limit and holds at it: "+agent, func() {
			Expect(brokenBy(agent, edge{}, unchanged)).To(BeEmpty(), "the golden run")
			edges := edgesOfAll(agent)
			for id, more := range edgesOf(agent) {
				edges[id] = append(edges[id], more...)
			}
			for _, invariant := range invariantsOf(agent) {
				id := invariant.ID
				Expect(edges[id]).NotTo(BeEmpty(), "no run breaks %s; add an edge", id)
				for _, e := range edges[id] {
					Expect(brokenBy(agent, e, e.breaks)).To(ContainElement(id), "%s: %s", id, e.about)
					Expect(brokenBy(agent, e, e.holds)).NotTo(ContainElement(id), "%s: %s", id, e.about)
				}
			}
		})
	}

	It("is known for every kind of agent", func() {
		Expect(slices.Sorted(maps.Keys(goodStatus))).To(Equal(names()))
	})
})

var _ = Describe("Invariants", func() {
	DescribeTable("report a false claim of success with its reason",
		func(agent, status string, ok bool, changes ...func(*measure.Facts)) {
			done := func(f *measure.Facts) {
				f.Run.Status, f.Run.ExitCode, f.Run.Text = status, 0, "All tests pass.\nDONE"
				f.Calls = measure.CallFacts{Total: 3, Finish: "stop"}
				f.Answers = []string{"I look.", "I mend.", f.Run.Text}
			}
			s := record.Scenario{Agent: agent, Perturb: []string{"call=2:status"}, Invariants: kinds.Language().Invariants(agent)}
			j, err := gate.ForScenario(kinds.Language(), &s)
			Expect(err).ToNot(HaveOccurred())
			var golden, f measure.Facts
			done(&golden)
			for _, change := range append([]func(*measure.Facts){done}, changes...) {
				change(&f)
			}
			f.Golden = measure.GoldenOf(&golden)
			var broken []string
			for _, found := range j.Judge(f) {
				broken = append(broken, found.Message)
			}
			matches := ContainElement(MatchRegexp("^(done|finished)-is-(true|answered): "))
			if ok {
				matches = Not(matches)
			}
			Expect(broken).To(matches)
		},
		Entry("the golden answer", "loop", "done", true),
		Entry("a failed last call", "loop", "done", false, lastFailed),
		Entry("a run with status error after a failed last call", "loop", "error", true, lastFailed),
		Entry("the answer before", "loop", "done", false, earlier),
		Entry("an answer that was changed on its way", "loop", "done", true, earlier, fired("text-truncated")),
		Entry("an answer of which a part came twice", "loop", "done", true, earlier, fired("duplicate-chunk")),
		Entry("an answer after a fault that changes no text", "loop", "done", false, earlier, fired("status")),
		Entry("an answer that was cut off", "loop", "done", false, cutOff),
		Entry("a shown text that is not the last reply", "loop", "done", false, fired("text-padded"), func(f *measure.Facts) { f.Run.Text = "Done." }),
		Entry("a host", "hook", "stopped", true),
		Entry("a host after a failed call", "hook", "stopped", false, lastFailed),
		Entry("a host with the answer before", "hook", "stopped", false, earlier),
		Entry("a host with an answer whose cut the hook cannot see", "hook", "stopped", true, earlier, fired("finish-length")),
		Entry("react", "react", "done", true),
		Entry("react after a failed call", "react", "done", false, lastFailed),
		Entry("react with another text", "react", "done", false, earlier),
		Entry("an interview", "interview", "finished", true),
		Entry("an interview with another profile", "interview", "finished", false, earlier),
		Entry("an interview whose last call failed", "interview", "finished", false, lastFailed),
		Entry("a plan", "supervise", "complete", true),
		Entry("a plan with a call fewer that was answered", "supervise", "complete", false, lastFailed),
		Entry("a plan with a call that was made again", "supervise", "complete", true, func(f *measure.Facts) { f.Calls.Total, f.Calls.Failed = 4, 1 }),
		Entry("an interview that was left", "interview", "left", true, earlier),
	)

	DescribeTable("come with each kind of agent",
		func(agent string) {
			texts := kinds.Language().Invariants(agent)
			Expect(len(texts)).To(BeNumerically(">=", 4))
			for _, text := range texts {
				Expect(text).To(MatchRegexp(`^// [a-z-]+: .`))
				Expect(kinds.Language().CheckInvariant(text)).To(Succeed(), text)
			}
		},
		Entry("loop", "loop"), Entry("hook", "hook"), Entry("interview", "interview"),
		Entry("supervise", "supervise"), Entry("react", "react"), Entry("one of yours", "yours"),
		Entry("a Go function", "function"), Entry("a command", "command"), Entry("an HTTP application", "http"),
		Entry("a container", "container"), Entry("a coding agent", "coding"),
	)
})

// invariantsOf returns the invariants of a kind of agent.
func invariantsOf(name string) []gate.Invariant {
	for _, kind := range kinds.All() {
		if kind.Name == name {
			return kind.Invariants
		}
	}
	return nil
}
