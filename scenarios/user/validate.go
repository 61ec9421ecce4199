package user

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/mocks"
)

// The limits of a user; a larger one is a mistake, or an attempt to use up memory.
const (
	mostItems = 200    // goals, facts, rules and further messages, each
	mostText  = 20_000 // bytes of a text
	mostTypos = 0.5
)

// pattern is a condition on the agent's answers, with its path.
type pattern struct {
	path  string
	match *mocks.Match
}

// patterns returns all given conditions on answers.
func (u *User) patterns() []pattern {
	all := []pattern{{"refuses", u.Refuses}}
	for i, g := range u.Goals {
		all = append(all, pattern{fmt.Sprintf("goals[%d].done.reply", i), g.Done.Reply})
	}
	for _, name := range u.factNames() {
		f, at := u.Facts[name], yamlsrc.Join("facts", name)
		all = append(all, pattern{at + ".asks", f.Asks}, pattern{at + ".contradicts", f.Contradicts})
	}
	for i, r := range u.Rules {
		all = append(all, pattern{fmt.Sprintf("rules[%d].when.reply", i), r.When.Reply})
	}
	return slices.DeleteFunc(all, func(p pattern) bool { return p.match == nil })
}

// validator collects problems.
type validator struct {
	*User
	states   map[string]bool // reachable ones
	problems []mocks.Problem
}

func (v *validator) add(path, format string, args ...any) {
	v.problems = append(v.problems, mocks.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Validate returns all mistakes in a user.
func (u *User) Validate() []mocks.Problem {
	v := &validator{User: u, states: u.reachableStates()}
	v.limits()
	if _, known := languages[cmp.Or(u.Language, "en")]; !known {
		v.add("language", "%q is not a language of simulated users; there are %s",
			u.Language, strings.Join(slices.Sorted(maps.Keys(languages)), ", "))
	}
	for path, text := range u.Texts() {
		if strings.TrimSpace(text) == "" && path != "closing" {
			v.add(path, "the user's text is empty")
		}
		if len(text) > mostText {
			v.add(path, "the text has %d bytes; a message of a simulated user has at most %d", len(text), mostText)
		}
	}
	for _, p := range u.patterns() {
		if _, err := p.match.Compile(); err != nil {
			v.add(p.path, "%v", err)
		} else if neverMatches(p.match.Matches) {
			v.add(p.path, "no text matches %q", p.match.Matches)
		}
	}
	v.goals()
	v.facts()
	v.rules()
	return v.problems
}

func (v *validator) limits() {
	for _, n := range []struct {
		path string
		n    int
	}{{"goals", len(v.Goals)}, {"facts", len(v.Facts)}, {"rules", len(v.Rules)}, {"otherwise", len(v.Otherwise)}} {
		if n.n > mostItems {
			v.add(n.path, "there are %d; a simulated user has at most %d", n.n, mostItems)
		}
	}
	// Zero is the default.
	if v.Patience < 0 {
		v.add("patience", "must be at least 1, not %d", v.Patience)
	}
	if v.MaxTurns < 0 || v.MaxTurns > mostTurns {
		v.add("max_turns", "must be between 1 and %d, not %d", mostTurns, v.MaxTurns)
	}
	if !(v.Style.Typos >= 0 && v.Style.Typos <= mostTypos) {
		v.add("style.typos", "must be between 0 and %v, not %v", mostTypos, v.Style.Typos)
	}
}

var idPattern = lazyregexp.New(`^[a-z0-9][a-z0-9_-]*$`)

// goals also reports goals that no turn can reach, and goals that any answer reaches.
func (v *validator) goals() {
	if len(v.Goals) == 0 {
		v.add("goals", "the user has no goals, so every conversation would end without success; write what the user wants")
	}
	seen := map[string]bool{}
	for i, g := range v.Goals {
		at := fmt.Sprintf("goals[%d]", i)
		switch {
		case !idPattern().MatchString(g.ID):
			v.add(at+".id", `%q is not an id; write lower-case letters, digits, "_" and "-"`, g.ID)
		case seen[g.ID]:
			v.add(at+".id", "the id %q is used by an earlier goal", g.ID)
		}
		seen[g.ID] = true
		if g.Done.Reply == nil && g.Done.State == "" {
			v.add(at+".done", "the goal has no condition that reaches it; write reply or state")
		}
		if g.Done.State != "" && !v.states[g.Done.State] {
			v.state(at+".done.state", "the goal cannot be reached: no rule leads to the state %q", g.Done.State)
		}
		if m := g.Done.Reply; m != nil && g.Done.State == "" {
			if c, err := m.Compile(); err == nil && c.Fits("") {
				v.add(at+".done.reply", "an empty answer matches, so every answer reaches the goal")
			}
		}
	}
}

func (v *validator) facts() {
	for _, name := range v.factNames() {
		f, at := v.Facts[name], yamlsrc.Join("facts", name)
		if len(textfold.Fold(name)) == 0 {
			v.add(at, "the name of a fact needs a word")
		}
		if f.Contradicts == nil {
			continue
		}
		if c, err := f.Contradicts.Compile(); err == nil && c.Fits(f.Value) {
			v.add(at+".contradicts", "the fact itself, %q, matches", f.Value)
		}
	}
}

func (v *validator) rules() {
	last := cmp.Or(v.MaxTurns, DefaultMaxTurns)
	for i, r := range v.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if r.Times < 0 {
			v.add(at+".times", "must be at least 1, not %d", r.Times)
		}
		if n := r.When.Turn; n != nil && (*n < 1 || *n >= last) {
			v.add(at+".when.turn", "there is no message after %d answers: it must be between 1 and %d, the last turn but one", *n, last-1)
		}
		if r.When.Refused != nil && v.Refuses == nil {
			v.add(at+".when.refused", "it is unknown what a refusal is; write refuses: with a condition on answers")
		}
		if r.In != "" && !v.states[r.In] {
			v.state(at+".in", "no rule leads to the state %q", r.In)
		}
	}
}

// state adds a problem of an unreachable state.
func (v *validator) state(path, format, state string) {
	v.add(path, format, state)
	v.problems[len(v.problems)-1].Nearest = suggest.Nearest(state, slices.Sorted(maps.Keys(v.states)))
}

// reachableStates follows the rules from the initial state.
func (u *User) reachableStates() map[string]bool {
	reachable := map[string]bool{u.State: true}
	for grown := true; grown; {
		grown = false
		for _, r := range u.Rules {
			if r.Then != "" && !reachable[r.Then] && (r.In == "" || reachable[r.In]) {
				reachable[r.Then], grown = true, true
			}
		}
	}
	delete(reachable, "")
	return reachable
}
