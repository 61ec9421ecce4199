package gate

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// judgeTalk judges the checks of a conversation's script, how the script ended, and the goals of a
// simulated user. Open goals do not count if the agent or a step of the script ended the conversation.
func judgeTalk(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for i := range f.Checks {
		found = j.judgeCheck(&f.Checks[i], found)
	}
	u := &f.User
	for _, id := range u.Avoided {
		if u.Goals[id] {
			found = append(found, j.goal(u, expect.AvoidedGoal, id, "the user reached a goal that the agent must avoid", id))
		}
	}
	switch u.Outcome {
	case "", "succeeded":
		return found
	case "failed":
		return append(found, Finding{
			Severity: Failing, Rule: "script", Message: "the script failed the conversation", At: u.Step, Evidence: u.Reason,
		})
	case "turn-limit":
		limit := Finding{
			Severity: Failing, Rule: "turn-limit", Message: "the conversation did not end by itself",
			Evidence: fmt.Sprintf("it was cut off after %d turns (user.max_turns)", u.Turns),
		}
		if u.At != "" {
			limit.At = u.At + ".max_turns"
		}
		found = append(found, limit)
	}
	for _, id := range u.Wanted {
		if !u.Goals[id] {
			found = append(found, j.goal(u, expect.UnreachedGoal, id, "the user did not reach a goal", id+": "+u.Reason))
		}
	}
	return found
}

// goal returns a finding about a goal, with its place.
func (j *Judge) goal(u *measure.UserFacts, rule, id, message, evidence string) Finding {
	f := j.misfit(rule, message, evidence)
	f.At = u.Places[id]
	return f
}

func (j *Judge) judgeCheck(c *measure.CheckFacts, found []Finding) []Finding {
	e, err := j.language.condition(c.Expr)
	if err != nil {
		return append(found, Finding{
			Severity: Broken, Rule: "check", Message: "the expression cannot be used: " + c.Expr, At: c.At, Evidence: err.Error(),
		})
	}
	finding, ok := e.judge(c.Facts)
	if ok {
		return found
	}
	finding.Rule, finding.At = "check", c.At
	return append(found, finding)
}
