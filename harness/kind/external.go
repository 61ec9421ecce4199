package kind

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
)

// ExternalInvariants returns the invariants of an external agent. They do not restrict its
// calls and answers, and only check its claims.
func ExternalInvariants() []gate.Invariant {
	return append(
		gate.General(gate.Tolerance{GoodStatuses: []string{"done"}, ErrorShown: errorShown, CauseNamed: causeNamed()}),
		gate.Invariant{
			ID: "answer-is-whole", Words: "an agent does not return a part of the golden answer as the whole answer",
			Expr: `run.status != "done" || run.text in ["", golden.text] || !golden.text.startsWith(run.text) ||
  script.fired.exists(fault, fault.contains("text-"))`,
		},
		gate.Invariant{
			ID: "said-is-done", Words: "an agent that ends with the golden answer left the files of the golden run",
			Expr: `run.status != "done" || run.text != golden.text || script.fired.exists(fault, fault.contains("text-")) ||
  golden.files.all(path, path in files && files[path] == golden.files[path])`,
		},
		gate.Invariant{
			ID: "tool-failure-told", Words: "the model is told of a tool call that failed",
			Expr: `size(run.hidden) == 0`,
		},
		gate.Invariant{
			ID: "gives-up", Words: "an agent gives up a call that failed 20 times in a row in the same way",
			Expr: `calls.in_a_row < 20 || calls.in_a_row <= golden.calls.in_a_row`,
		},
		gate.Invariant{
			ID: "restart-remembered", Words: "after a restart, the requests have the earlier turns that those of the golden run have",
			Expr: `!run.forgot.exists(message, message in golden.recalled)`,
		},
		gate.Invariant{
			ID: "turns-answered", Words: "each turn has an answer, or an error that says why not",
			Expr: `golden.text == "" || turns.all(turn, turn.text != "" || turn.error != "")`,
		},
	)
}

// errorShown is the expression of the invariant error-shown: the exit status of a program, and a closed connection, are
// no reason unless the golden run ended in the same way.
const errorShown = `run.exit_code == 0 || (run.details != "" && (!run.silent || run.exit_code == golden.exit_code))`

// errorWords has regular expressions for the words with which programs, libraries and people
// describe a failed call, by the kind of its error.
var errorWords = []struct{ kind, words string }{
	{"rate-limited", `429|rate.?limit|quota|too many|throttl|overload`},
	{"timeout", `time.?d?.?out|deadline|408|no answer within`},
	{"unavailable", `5[0-9][0-9]|unavailable|overload|connect|reset|refused|closed|hung up|eof|fetch|network|server error|internal error`},
	{"unauthorized", `401|403|unauthori|authenti|forbidden|api.?key|permission`},
	{"invalid-request", `4[0-9][0-9]|invalid|bad request|too long|not found`},
	{
		"malformed",
		`json|pars|decod|unmarshal|malformed|invalid|unexpected|utf-?8|no ` +
			`choice|nothing|empty|content.?type|index|null|nil|undefined|html`,
	},
	{"refused", `refus|filter|policy|safety|declin`},
	{
		"truncated",
		`truncat|incomplete|cut|eof|length|terminated|closed|end of (the )?(stream|file)|unexpected end|max.?tokens|too ` +
			`long|\[done\]`,
	},
}

// causeNamed returns the expression of the invariant cause-named for an agent that does not
// use the words of llm.ErrorKind. Excepted are calls that no line of the script answers, and runs whose last call had an
// answer that a perturbation changed: that may be why they ended otherwise.
func causeNamed() string {
	var pairs []string
	for _, w := range errorWords {
		pairs = append(pairs, fmt.Sprintf(`["%s", r"%s"]`, w.kind, w.words))
	}
	return `run.exit_code == golden.exit_code || calls.failed <= golden.calls.failed || "cancelled" in calls.errors ||
  "unexpected-call" in calls.errors || "script-exhausted" in calls.errors ||
  (calls.last_error == "" && script.fired.exists(fault, fault.matches("text|finish|filter|refusal|arguments"))) ||
  calls.errors.exists(kind, run.details.contains(kind) ||
    [` + strings.Join(pairs, ",\n     ") + `]
    .exists(words, words[0] == kind && run.details.lowerAscii().matches(words[1])))`
}
