package verify

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Judge checks the answers against a contract. A part holds if the agent claims that
// it does, and if what it names agrees with the contract:
//
//   - completeness, in the schema form: every required input is named by a check;
//   - consistency: it refers to no file that is not in the context;
//   - correctness: in the schema form, it names a check;
//   - constraints, in the schema form: every constraint is recognised in a check, by at
//     least one in three of the words that say something in it. The words are compared
//     without case, accents and endings, not translated.
//
// In the schema form consistency must name a check, too; completeness and constraints
// need none where the contract requires nothing. In the tick form the claim is
// taken, and Bound tells whether the sentence names enough to be compared with the
// contract or the context; see Record.Verified. A constraint that forbids every change
// of files does not hold if the run changed one, whatever the agent claims.
//
// This finds a verification that was not made, or made of other things than the
// contract's. It cannot find that a statement is false.
func Judge(answers []Answer, c Contract) Record {
	r := Record{Answers: make([]Answer, len(answers))}
	copy(r.Answers, answers)
	for _, p := range Parts() {
		if a := r.answer(p); a == nil {
			r.find(p, "the verification does not answer it")
		} else {
			r.judge(a, c)
		}
	}
	return r
}

func (r *Record) answer(p Part) *Answer {
	for i := range r.Answers {
		if r.Answers[i].Part == p {
			return &r.Answers[i]
		}
	}
	return nil
}

func (r *Record) find(p Part, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{Part: p, Message: fmt.Sprintf(format, args...)})
}

func (r *Record) judge(a *Answer, c Contract) {
	said := a.said()
	open := unmentioned(a.Part, said, c)
	switch a.Part {
	case Completeness, Constraints:
		a.Bound = len(open) == 0 && (len(said) > 0 || !needsChecks(a.Part, c))
	case Consistency:
		a.Bound = refers(said, c.Context)
	}
	switch {
	case !a.Passed:
		r.find(a.Part, "%s", a.denial())
	case a.Form == Schema && len(a.Checks) == 0 && needsChecks(a.Part, c):
		r.find(a.Part, "it names no check; list under check: what was looked at")
	case a.Form == Schema && len(open) > 0:
		r.find(a.Part, "no check names %s", quoted(open))
	}
	switch a.Part {
	case Consistency:
		if unread := unread(said, c.Context); len(unread) > 0 {
			r.find(a.Part, "it refers to %s, which was not read", quoted(unread))
		}
	case Constraints:
		if broken := readOnlyConstraint(c.Constraints); broken != "" && len(c.Written) > 0 {
			r.find(a.Part, "the constraint %q does not hold: the run changed %s", sanitize.Line(broken, 80), quoted(c.Written))
		}
	}
}

// said returns the texts that a part consists of.
func (a *Answer) said() []string {
	if a.Form == Tick {
		if a.Text == "" {
			return nil
		}
		return []string{a.Text}
	}
	return a.Checks
}

// denial returns why a part does not claim to hold.
func (a *Answer) denial() string {
	switch {
	case a.Form == Schema && len(a.Checks) == 0:
		return "it names no check, and does not say that it passes"
	case a.Form == Schema:
		return "the agent says that it does not hold: " + sanitize.Line(strings.Join(a.Checks, "; "), 200)
	case a.Text != "" && claimOf(a.Text) == silent:
		return "it says neither that it holds nor that it does not; begin with ✓ or ✗: " + sanitize.Line(a.Text, 200)
	}
	return "the agent says that it does not hold: " + sanitize.Line(a.Text, 200)
}

// needsChecks reports whether a part in the schema form must name a check.
func needsChecks(p Part, c Contract) bool {
	switch p {
	case Completeness:
		return len(c.Required) > 0
	case Constraints:
		return len(c.Constraints) > 0
	}
	return true
}

// unmentioned returns the things of the contract that a part should name and does not.
func unmentioned(p Part, said []string, c Contract) []string {
	var want []string
	share := 1 // all words of it
	switch p {
	case Completeness:
		want = c.Required
	case Constraints:
		want, share = c.Constraints, 3
	}
	if len(want) == 0 {
		return nil
	}
	spoken := make([][]string, len(said))
	for i, s := range said {
		spoken[i] = stems(s)
	}
	var open []string
	for _, w := range want {
		if !named(stems(w), spoken, share) {
			open = append(open, w)
		}
	}
	return open
}

// maxListed is how many things a finding lists.
const maxListed = 10

func quoted(list []string) string {
	var all []string
	for _, s := range list[:min(len(list), maxListed)] {
		all = append(all, fmt.Sprintf("%q", sanitize.Line(s, 80)))
	}
	if more := len(list) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
