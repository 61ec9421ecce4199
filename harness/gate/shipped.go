package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Invariants are those that come with a kind of agent, as record.Scenario.Agent
// names it: what must hold of every run of it, however it is perturbed. Each begins
// with its id and its words; see Words. None come with a kind that is not known
// but those that hold of all.
func Invariants(agent string) []string {
	kind := kinds[agent]
	k := kind.extraCalls()
	each := strconv.Itoa(k)
	words := fmt.Sprintf("each perturbation costs at most %d calls more", k)
	if kind.attempts {
		each = fmt.Sprintf("(golden.supervise.longest > %d ? golden.supervise.longest : %d)", k, k)
		words += ", or an attempt at a task, which is what is made again"
	}
	all := []string{
		say("harmless-faults", "a call fails only where it was made to, or where the golden path had none", failures),
		say("bounded-calls", words, fmt.Sprintf("calls.total <= golden.calls.total + %s * run.perturbed", each)),
		say("bounded-cost", "what the run costs is bounded by what the golden one did, and the calls beside", fmt.Sprintf(cost, each)),
		say("error-shown", "a run that did not go well says why", `run.exit_code == 0 || run.details != ""`),
		say("cause-named", "a run that ends otherwise because of a call names what was wrong with the call", cmp.Or(kind.cause, cause)),
		say("never-hangs", "a call that hangs is ended by a limit of time", `!run.details.contains("virtual clock stalled")`),
	}
	if kind.good != "" {
		all = append(all, say("true-exit-code", "the exit code is 0 if the status says that all went well, and only then",
			fmt.Sprintf("(run.exit_code == 0) == (run.status in [%s])", kind.good)))
	}
	return slices.Concat(all, kind.invariants)
}

// say puts words before an expression.
func say(id, words, expr string) string { return "// " + id + ": " + words + "\n" + expr }

// kind is what the invariants of a kind of agent rest on.
type kind struct {
	// calls is how many calls more than on the golden path one perturbation may cost.
	calls int
	// attempts says that it may cost a whole attempt at a task.
	attempts bool
	// cause is the invariant cause in its own words; empty is cause.
	cause string
	// good are the statuses, in CEL, that say that all went well.
	good       string
	invariants []string
}

// defaultCalls holds for agents that say nothing else: the call that is made again,
// and one for what came of it.
const defaultCalls = 2

func (k kind) extraCalls() int {
	if k.calls == 0 {
		return defaultCalls
	}
	return k.calls
}

// The kind of a call's error is a word of llm.ErrorKind, which agents show. A call
// that the agent itself gave up has none.
const cause = `run.exit_code == golden.exit_code || calls.failed <= golden.calls.failed || "cancelled" in calls.errors ||
  calls.errors.exists(kind, run.details.contains(kind))`

// A call that fails is one of the golden path, was made to fail, or found no line
// of the script, as one that the golden path does not have.
const failures = `calls.failed <= golden.calls.failed + run.perturbed + size(script.unexpected)`

// Each call beyond those of the golden path may cost what its dearest one did, and
// all of them twice as much, as a prompt grows by what went wrong before. A provider
// that reports more tokens than there were, or talks a lot, is not the agent's doing.
const cost = `!cost.known || !golden.cost.known ||
  script.fired.exists(fault, fault.contains("wrong-usage") || fault.contains("text-padded")) ||
  cost.usd <= 2.0 * (golden.cost.usd + golden.cost.most * double(%s * run.perturbed))`

// A run ended with what the golden one came to if its last call was answered and its
// text is the same, as the script's is: unless a perturbation gave an answer another
// text that looks like one.
const asGolden = `(calls.last_error == "" && (run.text == golden.text ||
  script.fired.exists(fault, fault.contains("text-") || fault.contains("duplicate-chunk"))))`

// What is shown is what was said last.
const shown = asGolden + ` && size(answers) > 0 && run.text == answers[size(answers) - 1]`

// An answer came whole if it has a text, and was not cut off.
const whole = shown + ` && run.text != "" && !(calls.finish in ["length", "content_filter"])`

// kinds are those of harness/drive, by record.Scenario.Agent.
var kinds = map[string]kind{
	"function": driven, "command": driven, "http": driven, "container": driven, "coding": driven,
	"loop": {
		good: `"done"`,
		invariants: []string{
			say("done-is-true", "a run that is done ended with the answer of the golden one, and that came whole",
				`run.status != "done" || `+whole),
		},
	},
	"hook": {
		good: `"stopped"`,
		invariants: []string{
			say("done-is-true", "the host stops at the answer of the golden run, but where it hides from the hook that an answer is not whole",
				`run.status != "stopped" ||
  script.fired.exists(fault, fault.contains("empty-text") || fault.contains("finish-length")) || `+shown),
		},
	},
	"interview": {
		calls: 1, // the call is made again
		good:  `"finished", "left"`,
		invariants: []string{
			say("finished-is-true", "a finished interview has the profile of the golden one",
				`run.status != "finished" || `+asGolden),
			say("no-answer-lost", "a finished interview holds every answer of the golden one, or, where texts of the prompts replaced questions, every answer that was given",
				`run.status != "finished" || interview.answers >=
  (interview.fallbacks > golden.interview.fallbacks ? interview.answered : golden.interview.answers)`),
			say("resumable", "what ended early can be taken up again and then ends well",
				`run.status == golden.status || run.resumed == golden.status`),
			say("no-answer-twice", "no answer is kept twice", `interview.answers <= golden.interview.answers`),
			say("queued-questions-are-free", "no call is made for a queued question", `interview.queued_calls == 0`),
			say("nothing-asked-twice", "a question is only asked for again after a call that did not serve",
				`calls.total <= golden.calls.total + run.perturbed + interview.transport_retries + interview.validation_retries + interview.lost`),
		},
	},
	"supervise": {
		calls:    5, // the task is tried again, by an agent that may take several calls
		attempts: true,
		good:     `"complete"`,
		invariants: []string{
			say("complete-is-true", "a run that is complete has no open task",
				`run.status != "complete" || supervise.open == 0`),
			say("resumable", "what ended early can be taken up again and then ends well",
				`run.status == golden.status || run.resumed == golden.status`),
			say("checked-at-the-end", "a run that is complete has no check that failed last",
				`run.status != "complete" || supervise.last.all(name, supervise.last[name] != "fail")`),
			say("no-task-left-out", "a run that is complete has done the tasks of the plan that the golden one did",
				`run.status != "complete" || supervise.planned >= golden.supervise.planned`),
			say("done-is-answered", "a run that is complete had as many calls answered as the golden one, if that had no rounds, in which tasks may be dropped",
				`run.status != "complete" || golden.supervise.derived > 0 || golden.supervise.rounds > 0 ||
  calls.total - calls.failed >= golden.calls.total - golden.calls.failed`),
			say("journal-undisturbed", "a run that was complete in spite of crashes has the journal of the golden one",
				`run.status != "complete" || size(run.struck) == 0 || size(script.fired) > 0 ||
  !run.struck.all(blow, blow.contains(":crash-")) || supervise.journal == golden.supervise.journal`),
		},
	},
	"react": {
		good: `"done"`,
		invariants: []string{
			say("done-is-verified", "what is done was verified, if it was on the golden path",
				`run.status != "done" || react.verified || !golden.react.verified`),
			say("done-is-true", "a run that is done ended with the result of the golden one",
				`run.status != "done" || `+asGolden),
		},
	},
}
