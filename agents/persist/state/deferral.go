package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// deferral is work that the answer to a done task announces. It is open until the tasks derived from
// it have done or dismissed each step. Answers to other tasks do not change it.
type deferral struct {
	// Task is the id of the task.
	Task string `json:"task"`
	// Refused is the reason why the stop guard refused the answer; empty if it could not judge it.
	Refused string `json:"refused,omitempty"`
	// Steps are the announced steps, if the answer names any.
	Steps []string `json:"steps,omitempty"`
	// Unjudged is the reason why the stop guard could not judge the answer.
	Unjudged string `json:"unjudged,omitempty"`
}

// judged applies the verdict of the stop guard on the answer to a done task. A task derived from a
// deferral settles its step; work that it defers itself is added to the same deferral.
func (s *State) judged(t *Task, o *Outcome) {
	owner := t.ID
	switch {
	case t.of == "":
		s.settleDeferral(owner, "")
	case o.Unjudged != "":
		return // its step stays open
	default:
		owner = t.of
		s.settleDeferral(owner, t.step)
	}
	if o.Refused == "" && o.Unjudged == "" {
		return
	}
	steps := o.Steps
	if len(steps) == 0 && t.step != "" {
		steps = []string{t.step}
	}
	d, open := s.deferralOf(owner)
	d.Task, d.Refused, d.Unjudged = owner, clip(o.Refused, maxItem), clip(o.Unjudged, maxItem)
	d.Steps = slices.Clone(d.Steps)
	for _, step := range steps {
		if !slices.Contains(d.Steps, step) {
			d.Steps = append(d.Steps, step)
		}
	}
	if open {
		s.Deferrals[s.deferralIndex(owner)] = d
		return
	}
	s.Deferrals = append(s.Deferrals, d)
}

// deferralIndex returns the index of the deferral of a task, or a negative number.
func (s *State) deferralIndex(task string) int {
	return slices.IndexFunc(s.Deferrals, func(d deferral) bool { return d.Task == task })
}

// settleDeferral removes a step from the deferral of a task, or the whole deferral if step is empty.
func (s *State) settleDeferral(task, step string) {
	i := s.deferralIndex(task)
	if i < 0 {
		return
	}
	d := s.Deferrals[i] // an outcome may share its steps
	d.Steps = slices.DeleteFunc(slices.Clone(d.Steps), func(text string) bool { return text == step })
	s.Deferrals[i] = d
	if step == "" || len(d.Steps) == 0 {
		s.Deferrals = slices.Delete(s.Deferrals, i, i+1)
	}
}

// deferralOf returns the open deferral of a task.
func (s *State) deferralOf(task string) (d deferral, ok bool) {
	i := s.deferralIndex(task)
	if i < 0 {
		return deferral{}, false
	}
	return s.Deferrals[i], true
}

// Announced returns the task whose answer announced t, and why the stop guard refused that
// answer. It returns false if t has no open deferral.
func (s *State) Announced(t Task) (by, refused string, ok bool) {
	if t.of == "" {
		return "", "", false
	}
	d, ok := s.deferralOf(t.of)
	return t.of, d.Refused, ok
}

// refused reports whether an answer announces work that is not done.
func (s *State) refused() bool {
	return slices.ContainsFunc(s.Deferrals, func(d deferral) bool { return d.Refused != "" })
}

// deferred answers the check of the stop guard, which passes if no deferral is open.
func (s *State) deferred() plan.CheckResult {
	var refused, unjudged, steps []string
	for _, d := range s.Deferrals {
		if d.Refused == "" {
			unjudged = append(unjudged, fmt.Sprintf("task %q: %s", d.Task, d.Unjudged))
			continue
		}
		refused = append(refused, fmt.Sprintf("task %q: %s", d.Task, d.Refused))
		steps = append(steps, d.Steps...)
	}
	result := plan.CheckResult{Verdict: plan.Pass}
	switch {
	case len(refused) > 0:
		result.Verdict = plan.Fail
		result.Details = fmt.Sprintf("%s may not stop: %s", format.Plural(len(refused), "answer"), strings.Join(refused, "; "))
		result.Items = clipAll(steps)
	case len(unjudged) > 0:
		result.Verdict = plan.Unknown
		result.Details = fmt.Sprintf("%s could not be judged: %s", format.Plural(len(unjudged), "answer"), strings.Join(unjudged, "; "))
	}
	result.Details = clip(result.Details, maxDetails)
	return result
}

// announced derives a task from each announced step, at most plan.MaxFindings of them, and one
// task from an answer that names no steps.
func (s *State) announced() []Derived {
	var made []Derived
	add := func(d Derived) {
		if len(made) < plan.MaxFindings {
			d.From = plan.CheckStopGuard
			made = append(made, d)
		}
	}
	n := 0
	for _, d := range s.Deferrals {
		if d.Refused == "" {
			continue
		}
		for _, step := range d.Steps {
			n++
			add(Derived{ID: s.fresh(fmt.Sprintf("step-%d", n)), Do: step, Of: d.Task, Step: step})
		}
		if len(d.Steps) == 0 {
			n++
			what := "step"
			if n > 1 {
				what = fmt.Sprintf("step-%d", n)
			}
			add(Derived{ID: s.fresh(what), Do: "Do what the last answer to this work leaves undone. " + sentence(d.Refused), Of: d.Task})
		}
	}
	return made
}
