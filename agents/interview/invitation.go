package interview

import (
	"errors"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// invited returns the invitation of a new session; the zero value if it needs none. resumed is true if
// the invitation began a session before that has no answer yet: the first response was lost, or the
// candidate opens the link again. That session is loaded then.
func (t *step) invited(now time.Time) (i session.Invitation, resumed bool, err error) {
	if t.request.Invitation == "" {
		if t.set.RequireInvitation {
			return i, false, refuse(CodeUninvited, "invitation: it is missing; interviews begin with an invitation only")
		}
		return i, false, nil
	}
	i, err = t.dep.Store.Invitation(t.ctx, session.HashInvitation(t.request.Invitation))
	switch state := i.State(now); {
	case errors.Is(err, session.ErrNotFound):
		return i, false, refuse(CodeInvitation, "invitation: there is no such invitation")
	case err != nil:
		return i, false, storeFailed("read the invitation", err)
	case t.request.Candidate != "" && i.Candidate != "" && t.request.Candidate != i.Candidate:
		return i, false, refuse(CodeInvalid, "candidateId: the invitation is for another candidate")
	case t.request.Job != "" && i.Job != "" && t.request.Job != i.Job:
		return i, false, refuse(CodeOtherJob, "job: the invitation is for another job, %q", i.Job)
	case state == "open":
		return i, false, nil
	case state == "used" && i.Uses == 1:
		t.request.Session = i.Session
		if err := t.load(); err == nil && t.now.Messages == 1 {
			t.repeated = true
			return i, true, nil
		}
		t.stored, t.now = session.Session{}, session.Session{} // the refusal must not show it
		fallthrough
	default:
		return i, false, refuse(CodeInvitation, "invitation: it is %s; to go on with an interview, use its address", state)
	}
}
