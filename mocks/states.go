package mocks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// states checks the state machine of the rules: the state of each rule must be reachable, and a
// cycle of states must be bounded, because an agent could follow it forever.
func (v *validator) states(s *Script) {
	reachable := reachableStates(s)
	words := slices.Sorted(maps.Keys(reachable))
	for i, l := range s.Rules {
		if l.In != "" && !reachable[l.In] {
			v.problems = append(v.problems, Problem{
				Path:    fmt.Sprintf("rules[%d].in", i),
				Message: fmt.Sprintf("no rule leads to the state %q", l.In),
				Nearest: suggest.Nearest(l.In, words),
			})
		}
	}
	if cycle, rule := unboundedCycle(s, reachable); cycle != nil {
		v.add(fmt.Sprintf("rules[%d].then", rule),
			"the states form an endless cycle: %s; bound one of its rules with times", strings.Join(cycle, " -> "))
	}
}

// reachableStates follows the rules from the initial state.
func reachableStates(s *Script) map[string]bool {
	moves, anywhere := map[string][]string{}, []string{s.State}
	for _, l := range s.Rules {
		switch {
		case l.Then == "":
		case l.In == "":
			anywhere = append(anywhere, l.Then)
		default:
			moves[l.In] = append(moves[l.In], l.Then)
		}
	}
	reachable := map[string]bool{}
	for todo := anywhere; len(todo) > 0; {
		state := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !reachable[state] {
			reachable[state] = true
			todo = append(todo, moves[state]...)
		}
	}
	return reachable
}

// move is a change to another state by a rule.
type move struct {
	to   string
	rule int
}

// cycleFinder searches for a cycle of states, depth first.
type cycleFinder struct {
	moves    map[string][]move
	anywhere []move // of rules without in
	finished map[string]bool
	path     []string
	place    map[string]int // in path
	cycle    []string       // the result
	rule     int
}

// unboundedCycle returns the states of a cycle without a rule that is limited by times, with the
// first state at both ends, and the rule that closes it; nil without such a cycle.
func unboundedCycle(s *Script, states map[string]bool) (cycle []string, rule int) {
	f := cycleFinder{moves: map[string][]move{}, finished: map[string]bool{}, place: map[string]int{}}
	for i, l := range s.Rules {
		bounded := l.Times > 0 || !l.answers() && l.Fault != nil && l.Fault.Times > 0
		switch {
		case l.Then == "" || bounded:
		case l.In == "":
			f.anywhere = append(f.anywhere, move{l.Then, i})
		default:
			f.moves[l.In] = append(f.moves[l.In], move{l.Then, i})
		}
	}
	for _, state := range slices.Sorted(maps.Keys(states)) {
		if f.visit(state) {
			break
		}
	}
	return f.cycle, f.rule
}

// visit reports whether a cycle can be reached from state.
func (f *cycleFinder) visit(state string) bool {
	if f.finished[state] {
		return false
	}
	f.place[state] = len(f.path)
	f.path = append(f.path, state)
	for _, m := range f.moves[state] {
		if f.follow(m) {
			return true
		}
	}
	for _, m := range f.anywhere {
		// A rule without in changes nothing in its own next state.
		if m.to != state && f.follow(m) {
			return true
		}
	}
	f.path = f.path[:len(f.path)-1]
	delete(f.place, state)
	f.finished[state] = true
	return false
}

func (f *cycleFinder) follow(m move) bool {
	if at, ok := f.place[m.to]; ok {
		f.cycle, f.rule = append(slices.Clone(f.path[at:]), m.to), m.rule
		return true
	}
	return f.visit(m.to)
}
