package state

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// mirrors are the checks whose answers from the state only reflect its tasks or the duties of the
// supervisor. No task is derived from them.
var mirrors = map[plan.Check]bool{
	plan.CheckTodos: true, plan.CheckPending: true, plan.CheckDependencies: true, plan.CheckCorrections: true,
	plan.CheckCheckpoints: true, plan.CheckSoftLimit: true, plan.CheckToolCalls: true,
}

// fixable returns the failed checks from which tasks are derived, most critical first.
func (s *State) fixable() []plan.CheckResult {
	var failed []plan.CheckResult
	for _, c := range s.Results {
		switch {
		case c.Verdict != plan.Fail:
		case c.Own && mirrors[c.Name]:
		case c.Own && c.Name == plan.CheckProblems && s.tasks.stages[stageFailed] == 0:
		default:
			failed = append(failed, c)
		}
	}
	slices.SortStableFunc(failed, func(a, b plan.CheckResult) int { return rank[a.Name] - rank[b.Name] })
	return failed
}

// rank orders the checks by criticality.
var rank = func() map[plan.Check]int {
	ranks := map[plan.Check]int{}
	for _, info := range plan.Checks() {
		ranks[info.Name] = info.Rank()
	}
	return ranks
}()

// failures returns a hash of the fixable checks and their items, or "" if there are none.
func (s *State) failures() string {
	failed := s.fixable()
	if len(failed) == 0 {
		return ""
	}
	hash := sha256.New()
	for _, c := range failed {
		items := slices.Sorted(slices.Values(c.Items))
		fmt.Fprintf(hash, "%q %q\n", c.Name, items)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// nextRound returns the tasks of the next round.
func (s *State) nextRound() []Derived {
	var made []Derived
	for _, c := range s.fixable() {
		switch {
		case c.Own && c.Name == plan.CheckProblems:
			s.tasks.open(func(t *Task) bool {
				if t.Stage == stageFailed {
					made = append(made, Derived{ID: t.ID, From: c.Name})
				}
				return true
			})
		case c.Own && c.Name == plan.CheckStopGuard:
			made = append(made, s.announced()...)
		default:
			probe := s.plan.Checks[c.Name]
			do := probe.Fix
			if do == "" {
				do = fix(c)
			}
			made = append(made, Derived{ID: s.fresh(string(c.Name)), Do: do, By: probe.By, From: c.Name})
		}
	}
	return made
}

// fresh returns an unused id for a task of the next round.
func (s *State) fresh(what string) string {
	id := fmt.Sprintf("round-%d.%s", s.Counts.Rounds+1, what)
	for n := 2; ; n++ {
		if _, taken := s.tasks.byID[id]; !taken {
			return id
		}
		id = fmt.Sprintf("round-%d.%s.%d", s.Counts.Rounds+1, what, n)
	}
}

// fix returns the request to fix a failed check. It quotes the findings, which come from a program.
func fix(c plan.CheckResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The check %q fails: mend what it found, until it passes.", c.Name)
	for _, info := range plan.Checks() {
		if info.Name == c.Name {
			fmt.Fprintf(&b, " It passes when %s.", info.Meaning)
		}
	}
	if c.Details != "" {
		fmt.Fprintf(&b, "\nDetails: %q", c.Details)
	}
	for _, item := range c.Items {
		fmt.Fprintf(&b, "\n- %q", item)
	}
	if c.Output != "" {
		b.WriteString("\nThe end of its output:\n")
		for line := range strings.Lines(c.Output) {
			b.WriteString("> " + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

func derived(d Derived) Task {
	return Task{Task: plan.Task{ID: d.ID, Do: d.Do, By: d.By}, From: d.From, of: d.Of, step: d.Step}
}
