package audit

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// callContract compares the calls of an interview with the calls that it needs: one for each
// text of a model, and none for a queued question.
type callContract struct {
	// Verdict is Pass if a finished interview has exactly the accepted calls and fallbacks of
	// each purpose that it needs, Fail if it has more or fewer, and Skip if an unfinished
	// interview does not have more.
	Verdict Verdict `json:"verdict"`
	// Golden is true if in addition every call was accepted.
	Golden   bool `json:"golden"`
	Expected int  `json:"expected"`
	Accepted int  `json:"accepted"`
	// Fallbacks is the number of texts of the prompts that replaced texts of the model.
	Fallbacks int           `json:"fallbacks"`
	Calls     int           `json:"calls"`
	Rows      []contractRow `json:"rows"`
}

// contractRow is the part of the contract for one purpose.
type contractRow struct {
	Purpose session.Purpose `json:"purpose"`
	// Expected is the number of calls that a whole interview needs.
	Expected int `json:"expected"`
	Accepted int `json:"accepted"`
	// Fallbacks is the number of texts of the prompts that replaced texts of the model.
	Fallbacks int `json:"fallbacks"`
	// Calls is the number of calls, including retries and repeats.
	Calls int `json:"calls"`
}

func contract(d Data) callContract {
	c := callContract{Verdict: Pass}
	if d.Session.Phase != session.Finished {
		c.Verdict = Skip
	}
	for _, p := range session.Purposes() {
		t := contractRow{Purpose: p}
		for _, s := range session.Steps() {
			for _, need := range s.Calls() {
				if need == p {
					t.Expected++
				}
			}
		}
		for _, call := range d.Calls {
			if call.Purpose == p {
				t.count(call.Outcome)
			}
		}
		for _, f := range d.Session.Fallbacks {
			if f.Purpose == p {
				t.Fallbacks++
			}
		}
		if n := t.Accepted + t.Fallbacks; n > t.Expected || c.Verdict != Skip && n < t.Expected {
			c.Verdict = Fail
		}
		c.Fallbacks += t.Fallbacks
		c.Expected, c.Accepted, c.Calls = c.Expected+t.Expected, c.Accepted+t.Accepted, c.Calls+t.Calls
		c.Rows = append(c.Rows, t)
	}
	c.Golden = c.Verdict == Pass && c.Calls == c.Expected && c.Fallbacks == 0
	return c
}

func (t *contractRow) count(o session.Outcome) {
	t.Calls++
	if o == session.Accepted {
		t.Accepted++
	}
}

// Sentence summarizes the contract in one sentence.
func (c callContract) Sentence() string {
	switch {
	case c.Golden:
		return fmt.Sprintf("exactly the %d calls that an interview needs", c.Expected)
	case c.Verdict == Pass && c.Fallbacks > 0:
		return fmt.Sprintf("%s and %s were used for the %d texts of an interview; wasted calls: %d",
			format.Plural(c.Accepted, "call"), format.Plural(c.Fallbacks, "fallback text"), c.Expected, c.Calls-c.Accepted)
	case c.Verdict == Pass:
		return fmt.Sprintf("the %d calls that an interview needs were used, and %d were wasted", c.Accepted, c.Calls-c.Accepted)
	case c.Verdict == Skip:
		return fmt.Sprintf("%d of %d calls accepted so far, %d made", c.Accepted, c.Expected, c.Calls)
	}
	return fmt.Sprintf("%d calls were used, but an interview needs %d", c.Accepted, c.Expected)
}
