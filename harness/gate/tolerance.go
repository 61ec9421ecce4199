package gate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Tolerance describes what a kind of agent may do in a perturbed run. The zero value is
// that of an agent of which nothing is known.
type Tolerance struct {
	// ExtraCalls is how many calls more than the golden run one perturbation may cost; 0
	// means 2: the call that is repeated, and one that follows from it.
	ExtraCalls int
	// Repeated is an expression for the calls of a unit of work that a perturbation makes
	// the agent repeat, where they can be more than ExtraCalls; RepeatedWords names it.
	Repeated, RepeatedWords string
	// GoodStatuses are those with which a run ends that went well; with none the exit code
	// is not checked.
	GoodStatuses []string
	// CauseNamed is the expression of the invariant cause-named; empty means that the
	// details contain a word of llm.ErrorKind.
	CauseNamed string
}

const defaultExtraCalls = 2

// General returns the invariants that hold of every agent, within what it is tolerated.
func General(t Tolerance) []Invariant {
	extra := cmp.Or(t.ExtraCalls, defaultExtraCalls)
	each := strconv.Itoa(extra)
	words := fmt.Sprintf("each perturbation costs at most %d calls more", extra)
	if t.Repeated != "" {
		each = fmt.Sprintf("(%s > %d ? %s : %d)", t.Repeated, extra, t.Repeated, extra)
		words += ", or " + t.RepeatedWords
	}
	all := []Invariant{
		{"harmless-faults", "a call fails only where it was made to, or where the golden path had none", failedCalls},
		{"bounded-calls", words, fmt.Sprintf("calls.total <= golden.calls.total + %s * run.perturbed", each)},
		{"bounded-cost", "what the run costs is bounded by what the golden one did, and the calls beside", fmt.Sprintf(boundedCost, each)},
		{"error-shown", "a run that did not go well says why", `run.exit_code == 0 || run.details != ""`},
		{"cause-named", "a run that ends otherwise because of a call names what was wrong with the call", cmp.Or(t.CauseNamed, causeNamed)},
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

// causeNamed: the kind of a call's error is a word of llm.ErrorKind, which agents show. A
// call that the agent itself gave up has none.
const causeNamed = `run.exit_code == golden.exit_code || calls.failed <= golden.calls.failed || "cancelled" in calls.errors ||
  calls.errors.exists(kind, run.details.contains(kind))`

// failedCalls: a call that fails is one of the golden path, was made to fail, or found no
// line of the script, as one that the golden path does not have.
const failedCalls = `calls.failed <= golden.calls.failed + run.perturbed + size(script.unexpected)`

// boundedCost: each call beyond those of the golden path may cost as much as its dearest
// one, and all of them twice as much, as a prompt grows by what went wrong before. A
// provider that reports more tokens than there were, or talks a lot, is not the agent's
// doing.
const boundedCost = `!cost.known || !golden.cost.known ||
  script.fired.exists(fault, fault.contains("wrong-usage") || fault.contains("text-padded")) ||
  cost.usd <= 2.0 * (golden.cost.usd + golden.cost.most * double(%s * run.perturbed))`

// Parts of invariants about a run that claims to be done.
const (
	// EndsAsGolden holds of a run whose last call was answered and whose text is that of
	// the golden run, as the script's is: unless a perturbation gave an answer another
	// text that looks like one.
	EndsAsGolden = `(calls.last_error == "" && (run.text == golden.text ||
  script.fired.exists(fault, fault.contains("text-") || fault.contains("duplicate-chunk"))))`

	// ShowsLastReply holds of a run that EndsAsGolden, and whose text is its last reply.
	ShowsLastReply = EndsAsGolden + ` && size(answers) > 0 && run.text == answers[size(answers) - 1]`

	// LastReplyComplete holds of a run that ShowsLastReply, which has a text and was not
	// cut off.
	LastReplyComplete = ShowsLastReply + ` && run.text != "" && !(calls.finish in ["length", "content_filter"])`
)

// Resumable is the invariant of agents that store their state.
var Resumable = Invariant{
	"resumable", "what ended early can be taken up again and then ends well",
	`run.status == golden.status || run.resumed == golden.status`,
}
