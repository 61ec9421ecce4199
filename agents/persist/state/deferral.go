package state

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// deferral is what the answer of a done task announces and does not do. It stays
// until each of its steps was done or dismissed by a task of a round that was made
// of it; the answers of other tasks change nothing about it.
type deferral struct {
	// Task is the id of the task.
	Task string `json:"task"`
	// Refused is why the stop guard refuses the answer; empty if it could not judge it.
	Refused string `json:"refused,omitempty"`
	// Steps are what the answer says is left; empty if it names nothing.
	Steps []string `json:"steps,omitempty"`
	// Unjudged is why the stop guard could not judge the answer.
	Unjudged string `json:"unjudged,omitempty"`
}

// judged takes what the stop guard said of the answer of a task that is done. A task
// that a deferral was turned into has done its step, dismissed it or deferred it once
// more; what it defers is added to the deferral that it came from.
func (s *State) judged(t *Task, o *Outcome) {
	owner := t.ID
	switch {
	case t.of == "":
		s.settleDeferral(owner, "")
	case o.Unjudged != "":
		return // its step is as open as it was
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

// deferralIndex returns the index of what the answer of a task defers; negative if there is none.
func (s *State) deferralIndex(task string) int {
	return slices.IndexFunc(s.Deferrals, func(d deferral) bool { return d.Task == task })
}

// settleDeferral takes a step from the deferral of a task, or, without a step, all of it.
func (s *State) settleDeferral(task, step string) {
	i := s.deferralIndex(task)
	if i < 0 {
		return
	}
	d := s.Deferrals[i] // its steps may be those of an outcome
	d.Steps = slices.DeleteFunc(slices.Clone(d.Steps), func(text string) bool { return text == step })
	s.Deferrals[i] = d
	if step == "" || len(d.Steps) == 0 {
		s.Deferrals = slices.Delete(s.Deferrals, i, i+1)
	}
}

// deferralOf returns what is still deferred by the answer of a task.
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

// refused reports whether an answer announces what is not done.
func (s *State) refused() bool {
	return slices.ContainsFunc(s.Deferrals, func(d deferral) bool { return d.Refused != "" })
}

// deferred answers the check of the stop guard: no deferral is left.
func (s *State) deferred() check.Result {
	var refused, unjudged, steps []string
	for _, d := range s.Deferrals {
		if d.Refused == "" {
			unjudged = append(unjudged, fmt.Sprintf("task %q: %s", d.Task, d.Unjudged))
			continue
		}
		refused = append(refused, fmt.Sprintf("task %q: %s", d.Task, d.Refused))
		steps = append(steps, d.Steps...)
	}
	result := check.Result{Verdict: check.Pass}
	switch {
	case len(refused) > 0:
		result.Verdict = check.Fail
		result.Details = fmt.Sprintf("%s may not stop: %s", format.Plural(len(refused), "answer"), strings.Join(refused, "; "))
		result.Items = clipAll(steps)
	case len(unjudged) > 0:
		result.Verdict = check.Unknown
		result.Details = fmt.Sprintf("%s could not be judged: %s", format.Plural(len(unjudged), "answer"), strings.Join(unjudged, "; "))
	}
	result.Details = clip(result.Details, maxDetails)
	return result
}

// announced makes a task of each step that an answer announces, at most
// check.MaxItems of them; of an answer that names no step, one of all of it.
func (s *State) announced() []Derived {
	var made []Derived
	add := func(d Derived) {
		if len(made) < check.MaxItems {
			d.From = check.StopGuard
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

// origin finds the deferral that a task was made of, where a record of an earlier
// version does not say so: the one with that step, or else the last one.
func (s *State) origin(d Derived) (of, step string) {
	if d.From != check.StopGuard || d.Of != "" {
		return d.Of, d.Step
	}
	for _, known := range s.Deferrals {
		if slices.Contains(known.Steps, d.Do) {
			return known.Task, d.Do
		}
	}
	if n := len(s.Deferrals); n > 0 {
		return s.Deferrals[n-1].Task, ""
	}
	return "", ""
}
