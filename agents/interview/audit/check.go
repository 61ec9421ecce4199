package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// Check is the result of one rule that must hold in the data of every session.
type Check struct {
	Name string `json:"name"`
	// About describes the rule.
	About   string  `json:"about"`
	Verdict Verdict `json:"verdict"`
	// N is the number of checked items.
	N int `json:"n"`
	// Problems describes at most maxProblems violations, and Found is their number.
	Problems []string `json:"problems,omitempty"`
	Found    int      `json:"found,omitempty"`
}

// maxProblems limits the listed problems of one check.
const maxProblems = 20

// rules are the checks in order.
var rules = []struct {
	name, about string
	run         func(*checker)
}{
	{"message-order", "messages are numbered from 1 without gaps, in the order of time", (*checker).order},
	{"one-question-at-once", "each question is followed by a message of the candidate", (*checker).oneAtOnce},
	{"one-answer-per-question", "no question has two answers", (*checker).oneAnswer},
	{
		"answers-are-messages", "each answer equals the candidate's message in reply to the question",
		(*checker).answersAreMessages,
	},
	{"no-answer-lost", "each passed question has an answer", (*checker).noneLost},
	{"queues-agree", "the cursor of each queue follows its answers, and a complete queue has all of them", (*checker).queues},
	{"served-from-queue", "questions are shown in the order and wording of their queue", (*checker).served},
	{"no-call-for-queued", "no call was made for a text that already existed, such as a queued question", (*checker).noCallForQueued},
	{"one-call-per-text", "each text of a model comes from an accepted call, and each accepted call is shown once", (*checker).texts},
	{"ledger-order", "calls are numbered from 1 without gaps, and the session counts them correctly", (*checker).ledger},
	{"repeats", "only lost calls are repeated, and only once", (*checker).repeats},
	{"in-flight", "only the call of the owed message has no outcome", (*checker).inFlight},
}

// Checks returns the results of all rules for the data of a session.
func Checks(d Data) []Check {
	out := make([]Check, 0, len(rules))
	for _, rule := range rules {
		c := checker{Data: d}
		rule.run(&c)
		result := Check{Name: rule.name, About: rule.about, Verdict: Pass, N: c.n, Problems: c.problems, Found: c.found}
		switch {
		case c.found > 0:
			result.Verdict = Fail
		case c.n == 0:
			result.Verdict = Skip
		}
		out = append(out, result)
	}
	return out
}

// checker collects the findings of one check.
type checker struct {
	Data
	n, found int
	problems []string
}

// must counts one checked item, and records a problem if ok is false.
func (c *checker) must(ok bool, format string, args ...any) {
	c.n++
	if ok {
		return
	}
	c.found++
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

func (c *checker) order() {
	for i, m := range c.Messages {
		c.must(m.Seq == i+1, "message %d is at position %d", m.Seq, i+1)
		if i > 0 {
			c.must(!m.At.Before(c.Messages[i-1].At), "message %d is older than its predecessor", m.Seq)
		}
	}
	c.must(c.Session.Messages == len(c.Messages), "the session counts %d messages, expected %d", c.Session.Messages, len(c.Messages))
	c.must(c.Session.Shown <= len(c.Messages), "message %d is shown, but only %d exist", c.Session.Shown, len(c.Messages))
}

func (c *checker) oneAtOnce() {
	for i, m := range c.Messages {
		if !isQuestion(m) || i+1 == len(c.Messages) {
			continue
		}
		c.must(c.Messages[i+1].Role == llm.User, "message %d follows question %d without an answer", c.Messages[i+1].Seq, m.Seq)
	}
}

// isQuestion reports whether a message of the service is a question.
func isQuestion(m session.Message) bool {
	asks := m.Kind == session.KindQuestion || m.Kind == session.KindTone || m.Step == session.Identity
	return m.Role == llm.Assistant && asks
}

// place is the question or the mirror that an answer belongs to.
type place struct {
	step  session.Step
	index int
}

func (p place) String() string {
	if p.index == session.Reflection {
		return fmt.Sprintf("the mirror of %s", p.step)
	}
	return fmt.Sprintf("question %d of %s", p.index, p.step)
}

func (c *checker) oneAnswer() {
	seen, from := map[place]bool{}, map[int]bool{}
	for _, a := range c.Answers {
		p := place{a.Step, a.Index}
		c.must(!seen[p], "message %[2]d is a second answer to %[1]s", p, a.Message)
		c.must(!from[a.Message], "message %d is stored as two answers", a.Message)
		seen[p], from[a.Message] = true, true
	}
}

func (c *checker) answersAreMessages() {
	for _, a := range c.Answers {
		p := place{a.Step, a.Index}
		i := slices.IndexFunc(c.Messages, func(m session.Message) bool { return m.Seq == a.Message })
		if i < 0 {
			c.must(false, "%s is answered by message %d, which does not exist", p, a.Message)
			continue
		}
		m := c.Messages[i]
		c.must(m.Role == llm.User && m.Step == a.Step && repliesTo(m, a.Index),
			"%s is answered by message %d, which is %s at %s", p, a.Message, m.Kind, m.Step)
		c.must(m.Text == a.Text, "the answer to %s differs from message %d", p, a.Message)
	}
}

// repliesTo reports whether a message of the candidate can be the answer with an index.
func repliesTo(m session.Message, index int) bool {
	switch {
	case index == session.Reflection:
		return m.Kind == session.KindMirror
	case m.Kind == session.KindQuestion:
		return m.Question == index
	}
	return index == 0 // identity and tone
}

// answeredAt returns the places that have an answer.
func (c *checker) answeredAt() map[place]bool {
	out := map[place]bool{}
	for _, a := range c.Answers {
		out[place{a.Step, a.Index}] = true
	}
	return out
}

func (c *checker) noneLost() {
	has := c.answeredAt()
	for _, q := range c.Queues {
		for i := range q.Cursor {
			p := place{q.Step, i}
			c.must(has[p], "%s was passed without an answer", p)
		}
	}
	for _, s := range []session.Step{session.Identity, session.Tone} {
		if after(c.Session.Step, s) {
			c.must(has[place{s, 0}], "%s was passed without an answer", s)
		}
	}
}

// after reports whether step a comes after b.
func after(a, b session.Step) bool {
	return slices.Index(session.Steps(), a) > slices.Index(session.Steps(), b)
}

func (c *checker) queues() {
	has := c.answeredAt()
	for _, q := range c.Queues {
		c.must(0 <= q.Cursor && q.Cursor <= len(q.Questions), "the cursor of the queue of %s is at %d of %d", q.Step, q.Cursor, len(q.Questions))
		c.must(!has[place{q.Step, q.Cursor}], "question %d of %s is answered, but the cursor of its queue has not moved", q.Cursor, q.Step)
		full := q.Cursor == len(q.Questions) && (q.Step != session.Block2A || q.Cursor == len(q.Step.Calls()))
		c.must(q.Complete == full, "the queue of %s has complete = %t at %d of %d", q.Step, q.Complete, q.Cursor, len(q.Questions))
		if after(c.Session.Step, q.Step) {
			c.must(q.Complete, "%s was left with an incomplete queue", q.Step)
		}
	}
	for p := range has {
		if p.index == session.Reflection || p.step == session.Identity || p.step == session.Tone {
			continue
		}
		q, ok := c.queue(p.step)
		c.must(ok && p.index < len(q.Questions), "%s is answered but was never queued", p)
	}
	slices.Sort(c.problems) // maps have no order
}

func (c *checker) queue(s session.Step) (session.Queue, bool) {
	i := slices.IndexFunc(c.Queues, func(q session.Queue) bool { return q.Step == s })
	if i < 0 {
		return session.Queue{}, false
	}
	return c.Queues[i], true
}

func (c *checker) served() {
	last := map[session.Step]int{}
	for _, m := range c.Messages {
		if m.Role != llm.Assistant || m.Kind != session.KindQuestion {
			continue
		}
		q, ok := c.queue(m.Step)
		if !ok || m.Question < 0 || m.Question >= len(q.Questions) {
			c.must(false, "message %d asks question %d of %s, which was never queued", m.Seq, m.Question, m.Step)
			continue
		}
		// A question that is asked again follows a fixed remark.
		c.must(strings.HasSuffix(m.Text, q.Questions[m.Question]), "message %d is not question %d of %s", m.Seq, m.Question, m.Step)
		before, asked := last[m.Step]
		c.must(m.Question == before+1 || asked && m.Question == before || !asked && m.Question == 0,
			"message %d asks question %d of %s out of order", m.Seq, m.Question, m.Step)
		last[m.Step] = m.Question
	}
}

func (c *checker) noCallForQueued() {
	for _, m := range c.Messages {
		batch := m.Role == llm.Assistant && m.Kind == session.KindQuestion && m.Step != session.Block2A
		if batch && m.Question > 0 {
			c.must(m.Call == 0, "message %d asks a queued question, but call %d was made for it", m.Seq, m.Call)
		}
	}
	shown := map[int]session.Message{}
	for _, m := range c.Messages {
		shown[m.Call] = m
	}
	done := map[string]session.Call{}
	for _, call := range c.Calls {
		text := fmt.Sprintf("%s %d of %s", call.Purpose, call.Index, call.Step)
		before, there := done[text]
		// A text with warnings is a draft during another attempt.
		waits := len(before.Warnings) > 0 && !call.At.After(shown[before.N].At)
		c.must(!there || waits, "call %d was made for %s, already produced by call %d", call.N, text, before.N)
		if call.Outcome == session.Accepted {
			done[text] = call
		}
	}
}

func (c *checker) texts() {
	shown := map[int]int{}
	for _, m := range c.Messages {
		if m.Call != 0 {
			shown[m.Call]++
			i := slices.IndexFunc(c.Calls, func(call session.Call) bool { return call.N == m.Call })
			c.must(i >= 0 && c.Calls[i].Outcome == session.Accepted && c.Calls[i].Step == m.Step,
				"message %d comes from call %d, which is not an accepted call of %s", m.Seq, m.Call, m.Step)
		}
	}
	for _, call := range c.Calls {
		if call.Outcome == session.Accepted {
			c.must(shown[call.N] == 1, "call %d was accepted and is shown by %d messages, expected 1", call.N, shown[call.N])
		}
	}
}

func (c *checker) ledger() {
	for i, call := range c.Calls {
		c.must(call.N == i+1, "call %d is at position %d", call.N, i+1)
		c.must(call.Attempt >= 1, "call %d is attempt %d", call.N, call.Attempt)
	}
	c.must(c.Session.Calls == len(c.Calls), "the session counts %d calls, expected %d", c.Session.Calls, len(c.Calls))
}

func (c *checker) repeats() {
	again := map[int]int{}
	for _, call := range c.Calls {
		if call.Repeats == 0 {
			continue
		}
		i := slices.IndexFunc(c.Calls, func(lost session.Call) bool { return lost.N == call.Repeats })
		c.must(i >= 0 && c.Calls[i].Outcome == session.Lost && c.Calls[i].N < call.N,
			"call %d repeats call %d, which was not lost", call.N, call.Repeats)
		again[call.Repeats]++
		c.must(again[call.Repeats] == 1, "call %d was repeated %d times", call.Repeats, again[call.Repeats])
	}
}

func (c *checker) inFlight() {
	owed := 0
	if c.Session.Owed != nil {
		owed = c.Session.Owed.InFlight
	}
	for _, call := range c.Calls {
		c.must((call.Outcome == session.Begun) == (call.N == owed),
			"call %d is %s, but the session has call %d in flight", call.N, call.Outcome, owed)
	}
	if c.Session.Phase == session.Owing {
		c.must(c.Session.Owed != nil, "the session owes a message without naming it")
	}
}
