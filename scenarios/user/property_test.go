package user_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

var words = []string{"order number", "date", "?", "please give", "A-1009", "3 May", "refund", "no", "", "x"}

// generated returns a valid user with up to 3 goals, facts and rules.
func generated(t *rapid.T) user.User {
	text := func(label string) *mocks.Match {
		return &mocks.Match{Contains: rapid.SampledFrom([]string{"order", "date", "refund", "no", "x"}).Draw(t, label)}
	}
	u := user.User{
		Opening: "Hello there friend.", Refuses: text("refuses"), Facts: map[string]user.Fact{},
		Patience: rapid.IntRange(1, 4).Draw(t, "patience"), MaxTurns: rapid.IntRange(8, 200).Draw(t, "max"),
		Style: user.Style{Terse: rapid.Bool().Draw(t, "terse"), Typos: rapid.Float64Range(0, 0.5).Draw(t, "typos")},
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "goals") {
		u.Goals = append(u.Goals, user.Goal{ID: fmt.Sprint("g", i), Avoid: rapid.Bool().Draw(t, "avoid"), Done: user.Done{Reply: text("done")}})
	}
	for _, name := range []string{"order number", "date"} {
		if rapid.Bool().Draw(t, name) {
			u.Facts[name] = user.Fact{Value: rapid.SampledFrom([]string{"A-1009", "3 May"}).Draw(t, "value")}
		}
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
		u.Rules = append(u.Rules, user.Rule{
			When: user.When{Reply: text("when")}, Say: fmt.Sprintf("Say number %d.", i), Then: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "then"),
			Times: rapid.IntRange(0, 2).Draw(t, "times"),
		})
	}
	return u
}

func reply(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 5).Draw(t, "reply"), " ")
}

// TestConversation checks that a conversation ends whatever the agent answers: a user with patience
// p sends at most p messages for each goal, fact and rule, and the limit of turns holds. It also
// checks that the same replies produce the same messages.
func TestConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := generated(t)
		m, err := user.New(&u, 7)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := user.New(&u, 7)
		bound := min(u.MaxTurns, (u.Patience+1)*(1+len(u.Goals)+len(u.Facts)+len(u.Rules))+1)
		reached, given := map[string]bool{}, map[string]bool{}
		turns := 0
		for ; ; turns++ {
			next, ok := m.Next()
			text := m.Spell(next.Text)
			same, okAgain := again.Next()
			if spelled := again.Spell(same.Text); spelled != text || okAgain != ok {
				t.Fatalf("turn %d: %q, then %q", turns, text, spelled)
			}
			if lacks := m.Lacks(&next, text); len(lacks) > 0 {
				t.Fatalf("%q lacks %v", text, lacks)
			}
			if !ok {
				break
			}
			if turns == bound {
				t.Fatalf("the conversation goes on after %d turns", bound)
			}
			answer := reply(t)
			heard := m.Hear(answer)
			again.Hear(answer)
			checkHeard(t, heard, reached, given)
		}
		checkEnd(t, &u, m.Outcome(), reached, turns)
	})
}

// checkHeard checks that goals and facts are new, and that only questions for known facts repeat.
func checkHeard(t *rapid.T, h user.Heard, reached, given map[string]bool) {
	for _, fact := range h.Gave {
		if given[fact] {
			t.Fatalf("the fact %q was given twice", fact)
		}
		given[fact] = true
	}
	for _, fact := range h.Asked {
		if given[fact] != slices.Contains(h.Repeated, fact) {
			t.Fatalf("asked for %q, given: %v, repeated: %v", fact, given[fact], h.Repeated)
		}
	}
	for _, goal := range h.Reached {
		if reached[goal] {
			t.Fatalf("the goal %q was reached twice", goal)
		}
		reached[goal] = true
	}
}

// checkEnd checks that a user left because of what happened.
func checkEnd(t *rapid.T, u *user.User, outcome user.Outcome, reached map[string]bool, turns int) {
	wanted, open := 0, 0
	for _, g := range u.Goals {
		if !g.Avoid {
			wanted++
		}
		if !reached[g.ID] && !g.Avoid {
			open++
		}
	}
	all := wanted > 0 && open == 0 || wanted == 0 && len(reached) == len(u.Goals)
	switch {
	case (outcome == user.Reached) != all:
		t.Fatalf("ended %q with the goals %v", outcome, reached)
	case outcome == user.TurnLimit && turns != u.MaxTurns:
		t.Fatalf("cut off after %d of %d turns", turns, u.MaxTurns)
	case outcome == "":
		t.Fatal("no outcome")
	}
}

// FuzzUser checks that any file is refused or gives a user whose conversations end.
func FuzzUser(f *testing.F) {
	f.Add(refund, "What is your order number?\x00The refund was issued.")
	f.Add(refund+"patience: 1\nstyle: {terse: true, typos: 0.5}\nlanguage: fr\nrules: [{when: {refused: true, turn: 2}, say: Oh., then: x}]\n", "I can't help.\x00\x00?")
	f.Add("opening: é\ngoals: [{id: a, done: {reply: {matches: '('}, state: x}}]\nfacts: {a: 1, b: {value: é, asks: é}}\n", "é?\xff")
	f.Fuzz(func(t *testing.T, text, replies string) {
		var u user.User
		if yaml.Load([]byte(text), &u, yaml.WithKnownFields()) != nil {
			return
		}
		problems := u.Validate()
		m, err := user.New(&u, 1)
		if (err == nil) != (len(problems) == 0) {
			t.Fatalf("%v, but the problems are %v", err, problems)
		}
		if err != nil {
			return
		}
		answers := strings.Split(replies, "\x00")
		for n := 0; ; n++ {
			if _, ok := m.Next(); !ok {
				break
			}
			if n == 200 {
				t.Fatal("the conversation goes on after 200 turns")
			}
			m.Hear(answers[min(n, len(answers)-1)])
		}
		if m.Outcome() == "" {
			t.Fatal("no outcome")
		}
	})
}
