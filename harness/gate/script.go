package gate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// judgeScript reports mismatches between the script and the run. Some can be allowed and are then
// only noted. So are the replies that were not requested after a call that no reply matched, or in a perturbed run:
// they are its consequence. A planned fault that never fired cannot be allowed, because the run did not test it; see
// judgeUnfired.
func judgeScript(j *Judge, f *measure.Facts, found []Finding) []Finding {
	offScript := len(f.Script.Unexpected) > 0 && !slices.Contains(j.expect.Allow, expect.UnexpectedCall)
	for _, e := range f.Script.Unused {
		message, detail := unusedReply(e)
		finding := j.misfit(expect.UnusedLine, message, detail)
		if finding.At = scriptKey(e); offScript || len(j.perturb) > 0 {
			finding.Severity = Info
		}
		found = append(found, finding)
	}
	return judgeUnfired(j, f, judgeRequests(j, f, found))
}

// judgeRequests reports the requests that the backend refused, and its warnings.
func judgeRequests(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for _, e := range f.Script.Unexpected {
		message := "no scripted reply matches this call"
		if slices.Contains(f.Script.Strays, e) {
			message = "the scripted backend has no such endpoint; is the client's base URL right?"
		}
		finding := j.misfit(expect.UnexpectedCall, message, e)
		finding.At = nearestReply(e)
		found = append(found, finding)
	}
	for _, e := range f.Script.Invalid {
		message := "a provider would have refused this request"
		if slices.Contains(f.Script.InvalidTools, e) {
			message = "an MCP server would have refused this message"
		}
		found = append(found, j.misfit(expect.InvalidRequest, message, e))
	}
	for _, e := range f.Script.Warnings {
		finding := Finding{Severity: Info, Rule: AdviceRule, Message: e}
		if slices.Contains(f.Script.UnofferedTools, e) {
			finding.At = scriptKey(e)
		}
		found = append(found, finding)
	}
	return found
}

// judgeUnfired reports the planned faults that never fired. In a perturbed run only the perturbations must take
// effect: after one, the agent may never reach the faults that the script itself plans.
func judgeUnfired(j *Judge, f *measure.Facts, found []Finding) []Finding {
	for _, e := range f.Script.Unfired {
		finding := Finding{Severity: Broken, Rule: unfiredFault, Message: "a planned fault never fired", At: scriptKey(e), Evidence: e}
		if len(j.perturb) > 0 && !slices.ContainsFunc(j.perturb, func(p string) bool { return strings.HasPrefix(e, p+": ") }) {
			finding.Severity, finding.Message = Info, "a fault of the script did not fire in this perturbed run"
		}
		found = append(found, finding)
	}
	return found
}

func (j *Judge) judgeMisfit(found []Finding, rule, message string, evidence []string) []Finding {
	for _, e := range evidence {
		found = append(found, j.misfit(rule, message, e))
	}
	return found
}

// misfit returns a finding that can be allowed.
func (j *Judge) misfit(rule, message, evidence string) Finding {
	severity := Failing
	if slices.Contains(j.expect.Allow, rule) {
		severity = Info
	}
	return Finding{Severity: severity, Rule: rule, Message: message, Evidence: evidence}
}

// AdviceRule is the rule of findings with the advice of the scripted backend about requests that it answered.
const AdviceRule = "advice"

// neverDelivered ends the message about a reply that was requested: the agent gave up after its fault, or left early.
const neverDelivered = " was never delivered"

// lineName matches the name of a line of the backend's script, of the script of an MCP server, or of the model of a
// simulated user.
const lineName = `(?:mcp\[[0-9]+\]\.tools\[[0-9]+\]\.|drive\.[a-z_]+\.user\.backend\.)?(?:replies|rules)\[[0-9]+\]`

// lineKey returns the key of a line in a scenario file.
func lineKey(name string) string {
	if strings.HasPrefix(name, "mcp[") || strings.HasPrefix(name, "drive.") {
		return name
	}
	return "backend." + name
}

// The forms in which recordings name a reply that was not delivered as often as planned.
var (
	undelivered = lazyregexp.New(`^(` + lineName + `): (?:never used|([0-9]+) of ([0-9]+) left)(?:; (.*))?$`)
	scriptLine  = lazyregexp.New(`^` + lineName + `$`)
)

// unusedReply returns the message and the evidence for an entry of record.Script.Unused.
func unusedReply(entry string) (message, evidence string) {
	m := undelivered().FindStringSubmatch(entry)
	if m == nil {
		return "a scripted reply was never requested", entry
	}
	name, why := m[1], m[4]
	left, _ := strconv.Atoi(m[2])
	all, _ := strconv.Atoi(m[3])
	switch {
	case left < all:
		return fmt.Sprintf("the scripted reply %s was requested %d of %d times", name, all-left, all), why
	case why != "": // it was requested
		return fmt.Sprintf("the scripted reply %s", name) + neverDelivered, why
	}
	return fmt.Sprintf("the scripted reply %s was never requested", name), ""
}

// The forms in which recordings name the reply that is nearest to a call without one, and the quoted
// text of agents, which may contain the same words.
var (
	nearest = lazyregexp.New(`(?:is not the one that|all replies up to|the closest is) (` + lineName + `)`)
	quoted  = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)
)

// nearestReply returns the key of the reply that is nearest to an unexpected call, an entry of
// record.Script.Unexpected: the one that was expected or comes closest, or the last one of a script
// that was used up. It returns "" if the entry names none.
func nearestReply(entry string) string {
	m := nearest().FindStringSubmatch(quoted().ReplaceAllString(entry, `""`))
	if m == nil {
		return ""
	}
	return lineKey(m[1])
}

// scriptKey returns the key of the script line with which an entry begins, or "".
func scriptKey(entry string) string {
	if line, _, _ := strings.Cut(entry, ":"); scriptLine().MatchString(line) {
		return lineKey(line)
	}
	return ""
}

// unfiredFault is the rule of a planned fault that never fired.
const unfiredFault = "unfired-fault"
