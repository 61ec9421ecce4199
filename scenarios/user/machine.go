package user

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks"
)

// Outcome is how a conversation ended for the user.
type Outcome string

// The outcomes; empty while the conversation goes on.
const (
	// Reached means that all goals were reached.
	Reached Outcome = "reached"
	// GaveUp means that the user's patience was exhausted.
	GaveUp Outcome = "gave-up"
	// TurnLimit means that the conversation was cut off after MaxTurns.
	TurnLimit Outcome = "turn-limit"
)

// Heard is what the user noticed in one turn: in the own message and in the agent's answer.
type Heard struct {
	// Gave are the facts in the user's message that the agent did not have before.
	Gave []string
	// Reached are the goals that the answer reached.
	Reached []string
	// Asked are the facts that the answer asks for, in its order; Repeated are those of them that the agent has.
	Asked, Repeated []string
	// Contradicted are the facts that the answer contradicts.
	Contradicted []string
	// Refused is true for a refusal, Silent for an empty answer.
	Refused, Silent bool
}

// Machine is a user in one conversation. It is not safe for concurrent use.
type Machine struct {
	user    *User
	match   map[*mocks.Match]func(string) bool
	phrases phrases
	names   []string        // of facts
	kept    map[string]bool // words that are spelled correctly
	seed    uint64

	outcome   Outcome
	turn      int // answers so far
	spoke     bool
	reply     string
	heard     Heard // in the last answer
	state     string
	reached   map[string]bool // by goal
	given     map[string]bool // by fact
	gave      []string        // since the last answer
	fired     []int           // by rule
	otherwise int
	idle      int
	leaving   bool
}

// New returns the user at the beginning of a conversation. It fails if the user is not valid.
func New(u *User, seed uint64) (*Machine, error) {
	if problems := u.Validate(); len(problems) > 0 {
		return nil, fmt.Errorf("the user of the conversation: %s", problems[0])
	}
	m := &Machine{
		user: u, seed: seed, state: u.State, phrases: languages[cmp.Or(u.Language, "en")], names: u.factNames(),
		match: map[*mocks.Match]func(string) bool{}, kept: map[string]bool{},
		reached: map[string]bool{}, given: map[string]bool{}, fired: make([]int, len(u.Rules)),
	}
	for _, p := range u.patterns() {
		fits, err := compile(p.match)
		if err != nil {
			return nil, fmt.Errorf("the user of the conversation: %s: %w", p.path, err)
		}
		m.match[p.match] = fits
	}
	for _, f := range u.Facts {
		for word := range strings.FieldsSeq(f.Value) {
			m.kept[word] = true
		}
	}
	return m, nil
}

// compile returns a condition to which the typographic apostrophe and the straight one are the same.
func compile(match *mocks.Match) (fits func(text string) bool, err error) {
	written, err := match.Compile()
	if err != nil {
		return nil, err
	}
	straight, err := (&mocks.Match{
		Contains: straighten(match.Contains), Matches: straighten(match.Matches), Equals: straighten(match.Equals),
	}).Compile()
	return func(text string) bool { return written.Fits(text) || straight.Fits(straighten(text)) }, err
}

// Outcome returns how the conversation ended for the user; empty while it goes on.
func (m *Machine) Outcome() Outcome { return m.outcome }

// Message is a message that the user has decided on.
type Message struct {
	// Text is the message without typos.
	Text string
	// Facts are the names of the facts in it.
	Facts []string
	// Fixed is true for the opening, which is sent as it is written.
	Fixed bool
}

// Next returns the user's next message, unless the user leaves. It is sent with the typos of Spell.
func (m *Machine) Next() (next Message, ok bool) {
	if m.outcome == "" && m.turn >= cmp.Or(m.user.MaxTurns, DefaultMaxTurns) {
		m.outcome = TurnLimit
	}
	if m.outcome != "" {
		return Message{}, false
	}
	next.Fixed = !m.spoke
	text, progress := m.compose()
	if m.Sent(text) || progress || len(m.heard.Reached) > 0 {
		m.idle = 0
	} else {
		m.idle++
	}
	if m.idle > cmp.Or(m.user.Patience, DefaultPatience) {
		m.leaving, text = true, cmp.Or(m.user.Closing, m.phrases.closing)
	}
	next.Text = text
	for _, name := range m.names {
		if containsWhole(text, m.user.Facts[name].Value) {
			next.Facts = append(next.Facts, name)
		}
	}
	return next, true
}

// Spell returns a text of the user with the typos of its style.
func (m *Machine) Spell(text string) string {
	return misspell(text, m.user.Style.Typos, m.kept, func(n int) uint64 { return random(m.seed, m.turn, n+1) })
}

// Sent notes a message of the user that the machine did not write. It reports whether the message
// has a fact that the agent did not have before.
func (m *Machine) Sent(text string) (news bool) {
	m.spoke = true
	for _, name := range m.names {
		if !m.given[name] && containsWhole(text, m.user.Facts[name].Value) {
			m.given[name], news = true, true
			m.gave = append(m.gave, name)
		}
	}
	return news
}

// compose returns the answer to the last reply. progress is true for the opening and for the first
// use of a rule; facts are progress as well.
func (m *Machine) compose() (text string, progress bool) {
	if !m.spoke {
		return m.user.Opening, true
	}
	for i := range m.user.Rules {
		if r := &m.user.Rules[i]; m.applies(i) {
			m.fired[i]++
			m.state = cmp.Or(r.Then, m.state)
			return r.Say, m.fired[i] == 1
		}
	}
	switch {
	case len(m.heard.Asked) > 0:
		return m.revealed(), false
	case m.heard.Silent:
		return m.phrases.silence, false
	case len(m.user.Otherwise) > 0:
		i := min(m.otherwise, len(m.user.Otherwise)-1)
		m.otherwise++
		return m.user.Otherwise[i], false
	}
	return m.phrases.otherwise[random(m.seed, m.turn, 0)%uint64(len(m.phrases.otherwise))], false
}

func (m *Machine) applies(rule int) bool {
	r := &m.user.Rules[rule]
	return (r.In == "" || r.In == m.state) &&
		(r.Times == 0 || m.fired[rule] < r.Times) &&
		(r.When.Reply == nil || m.match[r.When.Reply](m.reply)) &&
		(r.When.Turn == nil || *r.When.Turn == m.turn) &&
		(r.When.Refused == nil || *r.When.Refused == m.heard.Refused)
}

// revealed returns the facts that the agent asked for.
func (m *Machine) revealed() string {
	var texts []string
	for _, name := range m.heard.Asked {
		value := m.user.Facts[name].Value
		if !m.user.Style.Terse {
			value = m.phrases.sentence(name, value)
		}
		texts = append(texts, value)
	}
	if m.user.Style.Terse {
		return strings.Join(texts, ", ")
	}
	return strings.Join(texts, " ")
}

// Hear notes the agent's answer to the user's last message.
func (m *Machine) Hear(reply string) Heard {
	m.turn++
	m.reply = reply
	m.heard = Heard{Gave: m.gave, Silent: strings.TrimSpace(reply) == ""}
	m.gave = nil
	m.heard.Refused = m.user.Refuses != nil && m.match[m.user.Refuses](reply)
	answer, places := m.phrases.grammar().read(reply), map[string]int{}
	for _, name := range m.names {
		f := m.user.Facts[name]
		if at, ok := m.asks(answer, name, f); ok {
			m.heard.Asked, places[name] = append(m.heard.Asked, name), at
		}
		if f.Contradicts != nil && m.match[f.Contradicts](reply) {
			m.heard.Contradicted = append(m.heard.Contradicted, name)
		}
	}
	slices.SortStableFunc(m.heard.Asked, func(a, b string) int { return cmp.Compare(places[a], places[b]) })
	for _, name := range m.heard.Asked {
		if m.given[name] {
			m.heard.Repeated = append(m.heard.Repeated, name)
		}
	}
	m.heard.Reached = m.reachGoals()
	if m.leaving && m.outcome == "" {
		m.outcome = GaveUp
	}
	return m.heard
}

// asks reports whether an answer asks for a fact, and where. The place of a pattern is unknown: it is the end.
func (m *Machine) asks(answer []sentence, name string, f Fact) (at int, ok bool) {
	if f.Asks != nil {
		return math.MaxInt, m.match[f.Asks](m.reply)
	}
	return m.phrases.grammar().asks(answer, name, f.Value)
}

// reachGoals returns the goals that are newly reached, and ends the conversation after the last one.
// The goals to avoid end it only if there are no others.
func (m *Machine) reachGoals() (newly []string) {
	open := map[bool]int{}
	for _, g := range m.user.Goals {
		done := m.reached[g.ID]
		if !done && (g.Done.Reply == nil || m.match[g.Done.Reply](m.reply)) && (g.Done.State == "" || g.Done.State == m.state) {
			m.reached[g.ID], done = true, true
			newly = append(newly, g.ID)
		}
		if !done {
			open[g.Avoid]++
		}
	}
	wanted := false
	for _, g := range m.user.Goals {
		wanted = wanted || !g.Avoid
	}
	if wanted && open[false] == 0 || !wanted && open[true] == 0 {
		m.outcome = Reached
	}
	return newly
}
