package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// JudgeVerification compares claims with requirements. A part holds if the agent claims
// that it does, and if the claim agrees with the requirements:
//
//   - completeness, in the schema form: a check names each required input;
//   - consistency: it refers to no file that is not in the context;
//   - correctness: in the schema form, it names a check;
//   - constraints, in the schema form: a check has at least one in three of the significant
//     words of each constraint. Case, accents and endings do not matter; nothing is
//     translated.
//
// In the schema form consistency must name a check, too; completeness and constraints need
// none if nothing is required. In the tick form the claim is accepted, and Bound reports
// whether it can be compared with the requirements or the context; see
// Verification.Verified. A constraint that forbids every change of files does not hold if
// the run changed one, whatever the agent claims.
//
// This detects missing verifications and those of other requirements. It cannot detect a false
// statement.
func JudgeVerification(claims []Claim, req Requirements) Verification {
	v := Verification{Claims: slices.Clone(claims)}
	for _, p := range parts {
		if c := v.claim(p); c == nil {
			v.addFinding(p, "the verification does not answer it")
		} else {
			v.judge(c, req)
		}
	}
	return v
}

func (v *Verification) addFinding(p Part, format string, args ...any) {
	v.Findings = append(v.Findings, Finding{Part: p, Message: fmt.Sprintf(format, args...)})
}

func (v *Verification) judge(c *Claim, req Requirements) {
	texts := c.texts()
	open := unmentioned(c.Part, texts, req)
	switch c.Part {
	case Completeness, Constraints:
		c.Bound = len(open) == 0 && (len(texts) > 0 || !needsChecks(c.Part, req))
	case Consistency:
		c.Bound = refersTo(texts, req.Context)
	case Correctness:
	}
	switch {
	case !c.Passed:
		v.addFinding(c.Part, "%s", c.denial())
	case c.Form == schemaForm && len(c.Checks) == 0 && needsChecks(c.Part, req):
		v.addFinding(c.Part, "it names no check; list under check: what was looked at")
	case c.Form == schemaForm && len(open) > 0:
		v.addFinding(c.Part, "no check names %s", quoteAll(open))
	}
	switch c.Part {
	case Consistency:
		if unread := unreadFiles(texts, req.Context); len(unread) > 0 {
			v.addFinding(c.Part, "it refers to %s, which was not read", quoteAll(unread))
		}
	case Constraints:
		if broken := readOnlyConstraint(req.Constraints); broken != "" && len(req.Written) > 0 {
			v.addFinding(c.Part, "the constraint %q does not hold: the run changed %s", sanitize.Line(broken, 80), quoteAll(req.Written))
		}
	case Completeness, Correctness:
	}
}

// texts returns the sentence or the checks of the claim.
func (c *Claim) texts() []string {
	switch {
	case c.Form == schemaForm:
		return c.Checks
	case c.Text == "":
		return nil
	}
	return []string{c.Text}
}

// denial returns why a part does not claim to hold.
func (c *Claim) denial() string {
	switch {
	case c.Form == schemaForm && len(c.Checks) == 0:
		return "it names no check, and does not say that it passes"
	case c.Form == schemaForm:
		return "the agent says that it does not hold: " + sanitize.Line(strings.Join(c.Checks, "; "), 200)
	case c.Text != "" && markOf(c.Text) == noMark:
		return "it says neither that it holds nor that it does not; begin with ✓ or ✗: " + sanitize.Line(c.Text, 200)
	}
	return "the agent says that it does not hold: " + sanitize.Line(c.Text, 200)
}

// needsChecks reports whether a part in the schema form must name a check.
func needsChecks(p Part, req Requirements) bool {
	switch p {
	case Completeness:
		return len(req.Inputs) > 0
	case Constraints:
		return len(req.Constraints) > 0
	case Consistency, Correctness:
	}
	return true
}

// unmentioned returns the requirements of a part that no text names.
func unmentioned(p Part, texts []string, req Requirements) []string {
	var want []string
	share := 1 // of the words of a requirement, one in share must be found
	switch p {
	case Completeness:
		want = req.Inputs
	case Constraints:
		want, share = req.Constraints, 3
	case Consistency, Correctness:
	}
	if len(want) == 0 {
		return nil
	}
	words := make([][]string, len(texts))
	for i, text := range texts {
		words[i] = significantWords(text)
	}
	var open []string
	for _, w := range want {
		if !containsWords(words, significantWords(w), share) {
			open = append(open, w)
		}
	}
	return open
}

// maxListed is the largest number of things that a finding lists.
const maxListed = 10

// quoteAll returns the first items of a list in quotes.
func quoteAll(list []string) string {
	var all []string
	for _, s := range list[:min(len(list), maxListed)] {
		all = append(all, fmt.Sprintf("%q", sanitize.Line(s, 80)))
	}
	if more := len(list) - maxListed; more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
