package gate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// Tolerance describes what a kind of agent may do in a perturbed run. The zero value fits an
// unknown agent.
type Tolerance struct {
	// ExtraCalls is the number of additional calls that one perturbation may cost; 0 means 2: the
	// repeated call and one that follows from it.
	ExtraCalls int
	// Repeated is an expression for the calls that a perturbation makes the agent repeat, if they
	// can exceed ExtraCalls; RepeatedWords describes them.
	Repeated, RepeatedWords string
	// GoodStatuses are the statuses of successful runs; if empty, the exit code is not checked.
	GoodStatuses []string
	// ErrorShown is the expression of the invariant error-shown for an agent that must give a reason of its own; by
	// default, there must be details.
	ErrorShown string
	// CauseNamed is the expression of the invariant cause-named; by default, the details must
	// contain a word of llm.ErrorKind.
	CauseNamed string
}

const defaultExtraCalls = 2

// General returns the invariants of every agent, within a tolerance.
func General(t Tolerance) []Invariant {
	extra := cmp.Or(t.ExtraCalls, defaultExtraCalls)
	each := strconv.Itoa(extra)
	words := "each perturbation costs at most " + format.Count(extra, "extra call")
	if t.Repeated != "" {
		each = fmt.Sprintf("(%s > %d ? %s : %d)", t.Repeated, extra, t.Repeated, extra)
		words += ", or " + t.RepeatedWords
	}
	shown := Invariant{"error-shown", "a failed run reports a reason", `run.exit_code == 0 || run.details != ""`}
	if t.ErrorShown != "" {
		shown.Words, shown.Expr = shown.Words+" of its own, not only an exit status or a closed connection", t.ErrorShown
	}
	all := []Invariant{
		{"harmless-faults", "a call fails only where it was made to, or where the golden path had none", failedCalls},
		{"bounded-calls", words, fmt.Sprintf("calls.total <= golden.calls.total + %s * run.perturbed", each)},
		{"bounded-cost", "the run costs at most what the golden run did, and its extra calls", fmt.Sprintf(boundedCost, each)},
		shown,
		{"cause-named", "a run that a failed call ended differently names what was wrong with the call", cmp.Or(t.CauseNamed, causeNamed)},
		{"never-hangs", "a call that hangs is ended by a limit of time", `!run.details.contains("virtual clock stalled")`},
	}
	if len(t.GoodStatuses) > 0 {
		all = append(all, Invariant{
			"true-exit-code", "the exit code is 0 if the status says that all went well, and only then",
			fmt.Sprintf(`(run.exit_code == 0) == (run.status in ["%s"])`, strings.Join(t.GoodStatuses, `", "`)),
		})
	}
	return all
}

// causeNamed: the kind of a call's error is a word of llm.ErrorKind, which agents show. A call that
// the agent gave up has none.
const causeNamed = `run.exit_code == golden.exit_code || calls.failed <= golden.calls.failed || "cancelled" in calls.errors ||
  calls.errors.exists(kind, run.details.contains(kind))`

// failedCalls: a failed call is one of the golden path, was made to fail, or found no line of the
// script because the golden path does not have it.
const failedCalls = `calls.failed <= golden.calls.failed + run.perturbed + size(script.unexpected)`

// boundedCost: each call beyond those of the golden path may cost as much as its most expensive
// one, and all calls twice as much, because prompts grow with errors. Wrong usage and padded text
// of a provider are not the agent's fault.
const boundedCost = `!cost.known || !golden.cost.known ||
  script.fired.exists(fault, fault.contains("wrong-usage") || fault.contains("text-padded")) ||
  cost.usd <= 2.0 * (golden.cost.usd + golden.cost.most * double(%s * run.perturbed))`

// Parts of invariants about a run that ended successfully.
const (
	// EndsAsGolden requires that the last call was answered and that the text is that of the
	// golden run, unless a perturbation changed the text of an answer.
	EndsAsGolden = `(calls.last_error == "" && (run.text == golden.text ||
  script.fired.exists(fault, fault.contains("text-") || fault.contains("duplicate-chunk"))))`

	// ShowsLastReply requires EndsAsGolden, and that the text is the last reply.
	ShowsLastReply = EndsAsGolden + ` && size(answers) > 0 && run.text == answers[size(answers) - 1]`

	// LastReplyComplete requires ShowsLastReply, and that the text is neither empty nor cut off.
	LastReplyComplete = ShowsLastReply + ` && run.text != "" && !(calls.finish in ["length", "content_filter"])`
)

// Resumable is the invariant of agents that store their state.
var Resumable = Invariant{
	"resumable", "what ended early can be taken up again and then ends well",
	`run.status == golden.status || run.resumed == golden.status`,
}
