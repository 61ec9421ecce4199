package drive

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

// talkScript follows the steps of a conversation.
type talkScript struct {
	*conversation
	session app.Session
	user    *user.Machine // nil without a simulated user
	model   llm.Backend   // that puts the user's messages into words; nil without one
	said    []user.Exchange
}

// followScript carries out the steps of the conversation, and records how it ended unless the agent
// failed or the steps are only fixed turns.
func (c *conversation) followScript(ctx context.Context, session app.Session) error {
	s := talkScript{conversation: c, session: session}
	if c.Talk.User != nil {
		var err error
		if s.user, err = user.New(&c.Talk.User.User, c.seed); err != nil {
			return err
		}
		c.recordPersona(&c.Talk.User.User)
	}
	if b := c.Talk.UserBackend(); b != nil {
		var err error
		var engine *mocks.Engine
		if s.model, engine, err = c.trial.otherBackend(ctx, b); err != nil {
			return fmt.Errorf("connect the model of the simulated user: %w", err)
		}
		if !b.Lenient {
			c.trial.userEngine, c.trial.userAt = engine, c.at+".user.backend."
		}
	}
	end, reason := record.UserEnd{Outcome: record.ScriptEnded}, "the script ended"
	for i, step := range c.Talk.Steps() {
		at := fmt.Sprintf("%s.script[%d]", c.at, i)
		switch {
		case step.Check != "":
			c.site.Emit(event.New(c.turns, step.Check, record.Check{
				At: at + ".check", Calls: c.watch.calls(), Requests: c.trial.engine.Report().Calls,
			}))
		case step.Succeed != nil:
			end, reason = record.UserEnd{Outcome: record.ScriptSucceeded, At: at}, cmp.Or(*step.Succeed, "the script ended with success")
		case step.Fail != nil:
			end, reason = record.UserEnd{Outcome: record.ScriptFailed, At: at}, cmp.Or(*step.Fail, "the script ended with failure")
		default:
			if err := s.talk(ctx, step); err != nil {
				return err
			}
		}
	}
	if s.user != nil && end.At == "" && s.user.Outcome() != "" {
		end.Outcome, reason = string(s.user.Outcome()), outcomeReasons[s.user.Outcome()]
	}
	if c.Talk.User != nil || len(c.Talk.Script) > 0 {
		c.site.Emit(event.New(c.turns, reason, end))
	}
	return nil
}

var outcomeReasons = map[user.Outcome]string{
	user.Reached:   "the user reached all goals",
	user.GaveUp:    "the user lost patience",
	user.TurnLimit: "the limit of turns (max_turns) was reached",
}

// talk carries out a step of the user, or several turns of the simulated user.
func (s *talkScript) talk(ctx context.Context, step user.Step) error {
	switch {
	case step.Agent != nil: // it has answered already
		return nil
	case !step.Simulated():
		if s.user != nil {
			s.user.Sent(*step.User)
		}
		return s.exchange(ctx, *step.User)
	}
	most := 1
	if step.Proceed != nil {
		most = *step.Proceed
	}
	for n := 0; most == 0 || n < most; n++ {
		next, ok := s.user.Next()
		if !ok {
			return nil
		}
		text, err := s.words(ctx, &next)
		if err != nil {
			return err
		}
		if err := s.exchange(ctx, s.user.Spell(text)); err != nil {
			return err
		}
	}
	return nil
}

// exchange sends a message and waits for the answer, which the simulated user hears.
func (s *talkScript) exchange(ctx context.Context, text string) error {
	n := s.turns + 1
	if err := s.restartAgent(ctx, s.session, n); err != nil {
		return err
	}
	if err := s.runTurn(ctx, s.session, n, text); err != nil {
		return err
	}
	if s.user != nil {
		s.said = append(s.said, user.Exchange{User: text, Agent: s.answer.Text})
		heard := s.user.Hear(s.answer.Text)
		s.site.Emit(event.New(n, describeHeard(&heard), record.Heard(heard)))
	}
	return nil
}

func (c *conversation) recordPersona(u *user.User) {
	p := record.Persona{At: c.at + ".user", Refusals: u.Refuses != nil}
	for _, g := range u.Goals {
		p.Goals = append(p.Goals, g.ID)
		if g.Avoid {
			p.Avoided = append(p.Avoided, g.ID)
		} else {
			p.Wanted = append(p.Wanted, g.ID)
		}
	}
	for _, f := range u.Facts {
		p.Contradictions = p.Contradictions || f.Contradicts != nil
	}
	c.site.Emit(event.New(0, cmp.Or(u.Persona, "a simulated user"), p))
}

// describeHeard describes what the user noticed in a turn.
func describeHeard(h *user.Heard) string {
	var parts []string
	for _, part := range []struct {
		words string
		names []string
	}{
		{"the user gave", h.Gave},
		{"reached", h.Reached},
		{"the agent asked for", h.Asked},
		{"which it had already:", h.Repeated},
		{"contradicted", h.Contradicted},
	} {
		if len(part.names) > 0 {
			parts = append(parts, part.words+" "+strings.Join(part.names, ", "))
		}
	}
	if h.Refused {
		parts = append(parts, "the agent refused")
	}
	if h.Silent {
		parts = append(parts, "the answer is empty")
	}
	return cmp.Or(strings.Join(parts, "; "), "nothing new")
}
