package interview

import (
	"errors"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// viewOf returns the view of a session and its last message.
func viewOf(s session.Session, shown session.Message) View {
	state := collecting
	switch {
	case s.Phase == session.Waiting:
		state = waitingGo
	case s.Step == session.Matching:
		state = matching
	}
	return View{
		SessionID: s.ID, CurrentBlock: s.Step.Block(), State: state, Step: s.Step, Language: s.Language,
		Response: shown.Text, MessageID: shown.ID(), Kind: shown.Kind, QuestionIndex: shown.Question,
		ExpectsAnswer: s.Phase == session.Asking || s.Phase == session.Reflecting,
		AutoContinue:  s.Phase == session.Owing,
		Finished:      s.Phase == session.Finished,
	}
}

// view returns the view after a step that ended with err. If the session is known, the error
// contains the view.
func (t *step) view(err error) (View, *Error) {
	failed, known := errors.AsType[*Error](err)
	if err != nil && !known {
		failed = storeFailed("carry out the step", err)
	}
	if t.stored.ID == "" {
		return View{}, failed
	}
	shown, err := t.last()
	if err != nil {
		if failed == nil {
			failed = storeFailed("read the last message", err)
		}
		return View{}, failed
	}
	v := viewOf(t.stored, shown)
	v.Repeated = t.repeated
	if failed != nil {
		failed.View = &v
		return View{}, failed
	}
	return v, nil
}

// last returns the last message to the candidate.
func (t *step) last() (session.Message, error) {
	if t.shown != nil && t.shown.Seq == t.stored.Shown {
		return *t.shown, nil
	}
	return t.dep.Store.Message(t.ctx, t.stored.ID, t.stored.Shown)
}
