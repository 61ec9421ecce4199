package audit_test

import (
	"fmt"
	"time"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// interview drives a session as the service does, over the real state machine but
// without a model: the purpose of a call determines its latency and cost.
type interview struct {
	audit.Data
	now time.Time
	// before is called before each call that is accepted, to add others.
	before func(*interview)
	// wait returns how long the candidate thinks; nil means 20 s.
	wait func() time.Duration
	// vague is the number of unclear answers that the candidate still gives to a
	// choice.
	vague map[session.Step]int
}

// sessionID is as long as real ones.
const sessionID = "0123456789abcdef0123456789abcdef"

var began = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// figures are the latency of a call in milliseconds, and its cost in thousandths of a euro.
var figures = map[session.Purpose][2]int{
	session.PurposePreamble: {2100, 2}, session.PurposeQuestions: {3400, 3}, session.PurposeAdaptive: {1800, 1},
	session.PurposeMirror: {2600, 4}, session.PurposeProfile: {11200, 14}, session.PurposeMatching: {7300, 9},
}

func begin() *interview {
	i := &interview{now: began}
	i.Session = session.Session{ID: sessionID, Candidate: "lea", Language: session.French, Created: began}
	i.apply(session.Start(i.Session))
	return i
}

// taken returns an interview after a number of inputs of the candidate, or a finished
// one if inputs is negative.
func taken(inputs int, before func(*interview)) *interview {
	i := begin()
	i.before = before
	return i.on(inputs)
}

// on continues with a number of inputs.
func (i *interview) on(inputs int) *interview {
	for n := 0; n != inputs && i.Session.Phase != session.Finished; n++ {
		i.act()
	}
	return i
}

// act takes the candidate's next step, and the call that it may cause.
func (i *interview) act() {
	i.say()
	if i.Session.Phase == session.Owing {
		if i.before != nil {
			i.before(i)
		}
		i.call(session.Accepted)
		i.next(i.reply())
	}
}

// say submits the candidate's next message.
func (i *interview) say() {
	if i.wait != nil {
		i.now = i.now.Add(i.wait())
	} else {
		i.now = i.now.Add(20 * time.Second)
	}
	var in session.Input = session.Answered{Text: i.answer()}
	if i.Session.Phase == session.Waiting {
		in = session.Went{}
	}
	i.next(in)
}

// answer returns the candidate's.
func (i *interview) answer() string {
	choice := i.Session.Step == session.Tone || i.Session.Step == session.Block2A && i.Session.Queue != nil && i.Session.Queue.Cursor == 0
	switch {
	case choice && i.vague[i.Session.Step] > 0:
		i.vague[i.Session.Step]--
		return "Je ne sais pas."
	case i.Session.Step == session.Tone:
		return "tu"
	case i.Session.Step == session.Block2A && i.Session.Queue.Cursor == 0:
		return "Plutôt les films"
	}
	return fmt.Sprintf("Answer <%d>", len(i.Answers))
}

func (i *interview) next(in session.Input) {
	move, err := session.Next(i.Session, in, i.now)
	ExpectWithOffset(2, err).NotTo(HaveOccurred())
	i.apply(move)
}

// reply returns the model's reply to the owed call.
func (i *interview) reply() session.Replied {
	owed, call := i.Session.Owed, len(i.Calls)
	text := fmt.Sprintf("Text of call %d?", call)
	if owed.Purpose == session.PurposeQuestions {
		return session.Replied{Call: call, Questions: []string{text, "Second & last but one?", "Third?"}}
	}
	return session.Replied{Call: call, Text: text}
}

// call adds a ledger entry for the owed call.
func (i *interview) call(outcome session.Outcome) *session.Call {
	owed := i.Session.Owed
	took, cost := figures[owed.Purpose][0], figures[owed.Purpose][1]
	c := session.Call{
		N: len(i.Calls) + 1, Purpose: owed.Purpose, Step: i.Session.Step, Index: owed.Index, Attempt: 1,
		Outcome: outcome, At: i.now, Latency: time.Duration(took) * time.Millisecond, Model: "gpt-4.1",
		Counted:  llm.Usage{Input: 1000 + 100*cost, Output: 50 * cost, Source: llm.UsageCounted},
		Reported: &llm.Usage{Input: 1000 + 100*cost, Output: 50 * cost, Source: llm.UsageReported},
		Cost:     &quantity.Money{Amount: float64(cost) / 1000, Currency: quantity.EUR},
		Prompt:   "1@0123456789ab", Sent: len(i.Messages),
	}
	for n := len(i.Calls) - 1; n >= 0; n-- {
		if last := i.Calls[n]; last.Purpose == c.Purpose && last.Step == c.Step && last.Index == c.Index {
			c.Attempt = last.Attempt + 1
			break
		}
	}
	i.Calls = append(i.Calls, c)
	i.Session.Calls = len(i.Calls)
	i.now = i.now.Add(c.Latency)
	return &i.Calls[len(i.Calls)-1]
}

// apply stores a move.
func (i *interview) apply(m session.Move) {
	version := i.Session.Version
	i.Session = m.Session
	i.Session.Version, i.Session.Updated = version+1, i.now
	if m.Heard != nil {
		i.add(*m.Heard)
	}
	if m.Answer != nil {
		answer := *m.Answer
		answer.Message = len(i.Messages)
		i.Answers = append(i.Answers, answer)
	}
	if m.Queue != nil {
		i.keep(*m.Queue)
	}
	if say := m.Say; say != nil {
		shown := *say
		shown.Text = string(m.Fixed) + shown.Text
		i.add(shown)
		i.Session.Shown = len(i.Messages)
	}
}

func (i *interview) add(m session.Message) {
	m.Seq, m.At, m.Tokens = len(i.Messages)+1, i.now, len(m.Text)/4
	i.Messages = append(i.Messages, m)
	i.Session.Messages = len(i.Messages)
}

func (i *interview) keep(q session.Queue) {
	q.Questions = append([]string(nil), q.Questions...)
	for n := range i.Queues {
		if i.Queues[n].Step == q.Step {
			i.Queues[n] = q
			return
		}
	}
	i.Queues = append(i.Queues, q)
}

// troubled returns an interview with lost, broken and rejected calls, a trimmed history,
// and a long break of the candidate.
func troubled() audit.Data {
	i := taken(-1, func(i *interview) {
		switch len(i.Calls) {
		case 2:
			c := i.call(session.Lost)
			c.Cost, c.Reported, c.Latency = nil, nil, 0
		case 6:
			c := i.call(session.Broken)
			c.Cost, c.Reported, c.Fault, c.Detail = &quantity.Money{Currency: quantity.USD}, nil, string(llm.Timeout), "no answer within 60 s"
		case 11:
			c := i.call(session.Rejected)
			c.Fault, c.Detail = "mirror-words", `section 1 has 41 words, at most 30 are allowed: "<b>"`
		case 15:
			i.now = i.now.Add(14 * time.Hour)
		}
	})
	i.Calls[3].Repeats = 3
	i.Calls[13].Trimmed, i.Calls[14].Trimmed = 4, 6
	i.Calls[16].Warnings = []string{"section 2 has 27 words, 25 are wanted"}
	i.Calls[16].Reported.Input += 400
	return i.Data
}

func options() audit.Options {
	return audit.Options{EURPerUSD: 0.86, RateDate: "2026-11-20", PriceDate: "2026-11-20"}
}
