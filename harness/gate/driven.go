package gate

import (
	"fmt"
	"strings"
)

// driven is the kind of somebody else's agent. What it says and which calls it makes is
// its own affair; what it says must be so.
var driven = kind{
	good:  `"done"`,
	cause: causeInOwnWords(),
	invariants: []string{
		say("answer-is-whole", "what an agent answers is not a part of the golden answer, passed on as if it were all",
			`run.status != "done" || run.text == golden.text || !golden.text.startsWith(run.text) ||
  script.fired.exists(fault, fault.contains("text-"))`),
		say("said-is-done", "an agent that ends with the golden answer left the files of the golden run",
			`run.status != "done" || run.text != golden.text || script.fired.exists(fault, fault.contains("text-")) ||
  golden.files.all(path, path in files && files[path] == golden.files[path])`),
		say("turns-told", "each turn has an answer, or says why it has none",
			`golden.text == "" || turns.all(turn, turn.text != "" || turn.error != "")`),
	},
}

// ownWords are the words by which programs name what was wrong with a call, by the kind of
// its error: that of an HTTP status, of a library, of a person.
var ownWords = []struct{ kind, words string }{
	{"rate-limited", `429|rate.?limit|quota|too many|throttl|overload`},
	{"timeout", `time.?d?.?out|deadline|408|no answer within`},
	{"unavailable", `5[0-9][0-9]|unavailable|overload|connect|reset|refused|closed|hung up|eof|fetch|network|server error|internal error`},
	{"unauthorized", `401|403|unauthori|authenti|forbidden|api.?key|permission`},
	{"invalid-request", `4[0-9][0-9]|invalid|bad request|too long|not found`},
	{"malformed", `json|pars|decod|unmarshal|malformed|invalid|unexpected|utf-?8|no choice|nothing|empty|content.?type|index|null|nil|undefined|html`},
	{"refused", `refus|filter|policy|safety|declin`},
	{"truncated", `truncat|incomplete|cut|eof|length|terminated|closed|end of (the )?(stream|file)|unexpected end|max.?tokens|too long|\[done\]`},
}

// causeInOwnWords is the invariant cause of an agent that does not know our words. A call
// that no line of the script answers is the script's doing.
func causeInOwnWords() string {
	var pairs []string
	for _, w := range ownWords {
		pairs = append(pairs, fmt.Sprintf(`["%s", r"%s"]`, w.kind, w.words))
	}
	return `run.exit_code == golden.exit_code || calls.failed <= golden.calls.failed || "cancelled" in calls.errors ||
  "unexpected-call" in calls.errors || "script-exhausted" in calls.errors ||
  calls.errors.exists(kind, run.details.contains(kind) ||
    [` + strings.Join(pairs, ",\n     ") + `]
    .exists(words, words[0] == kind && run.details.lowerAscii().matches(words[1])))`
}
