package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Taker shows an interview and submits the replies.
type Taker struct {
	Service *interview.Service
	Out     io.Writer // the interview
	Notes   io.Writer // everything else
	Term    console.Terminal
	Persona *kind.Persona // answers; nil reads the answers from Stdin
	Stdin   io.Reader

	lines   <-chan string
	view    interview.View
	retried bool // the persona has asked for another try
}

// Take conducts the interview from a first submission to its end. It returns input.ErrEnd if the input
// ends early, the cause of ctx if it is interrupted, or an error of the service. Earlier answers stay
// stored.
func (t *Taker) Take(ctx context.Context, first interview.Submission) error {
	if err := t.send(ctx, first); err != nil {
		return err
	}
	if t.Persona == nil {
		t.lines = input.Lines(t.Stdin)
	}
	for !t.view.Finished {
		next, err := t.reply(ctx)
		if err != nil {
			fmt.Fprintf(t.Notes, "\nYour answers are saved. Continue with: rehearse interview take --resume %s …\n", t.view.SessionID)
			return err
		}
		if err := t.send(ctx, next); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.Notes, "\nThe interview is finished and saved as session %s.\n", t.view.SessionID)
	return nil
}

// send submits a reply and shows the next message. It returns an error only if the interview cannot
// continue.
func (t *Taker) send(ctx context.Context, in interview.Submission) error {
	if t.Term.Live && in.Event != interview.EventStart && in.Event != interview.EventResume {
		fmt.Fprintln(t.Out, t.Term.Paint(console.Faint, "…"))
	}
	view, err := t.Service.Handle(ctx, in)
	failed, ok := errors.AsType[*interview.Error](err)
	switch {
	case err == nil:
		t.view = view
		fmt.Fprintf(t.Out, "\n%s\n", sanitize.Text(t.view.Response, 0))
		return nil
	case !ok:
		return err
	case failed.View == nil && t.view.SessionID == "":
		return failed
	case failed.View != nil:
		t.view = *failed.View
	}
	fmt.Fprintf(t.Notes, "\n%s\n", sanitize.Line(failed.Message, 0))
	return nil
}

// hint describes the expected input; empty for an answer.
func (t *Taker) hint() string {
	switch {
	case t.view.AutoContinue:
		return "press Enter to try again"
	case !t.view.ExpectsAnswer:
		return "press Enter to continue"
	case t.view.Kind == session.KindMirror:
		return "comment, or press Enter to continue"
	}
	return ""
}

// reply returns the next submission of the candidate.
func (t *Taker) reply(ctx context.Context) (interview.Submission, error) {
	if t.Persona == nil {
		return t.readReply(ctx)
	}
	in := interview.Submission{Session: t.view.SessionID, ReplyTo: t.view.MessageID}
	switch {
	case ctx.Err() != nil:
		return in, context.Cause(ctx)
	case t.view.AutoContinue && t.retried:
		return in, input.ErrEnd
	case t.view.AutoContinue:
		t.retried, in.Event = true, interview.EventRetry
		return in, nil
	case t.view.Kind == session.KindMirror:
		in.Message = t.Persona.Comment(t.view.Step)
	case t.view.ExpectsAnswer:
		in.Message = t.Persona.Answer(t.view.Step, max(t.view.QuestionIndex, 0))
	}
	if in.Message == "" {
		in.Event = interview.EventGo
		return in, nil
	}
	fmt.Fprintf(t.Out, "\n> %s\n", strings.ReplaceAll(sanitize.Text(in.Message, 0), "\n", "\n> "))
	return in, nil
}

// readReply reads the next submission of a person.
func (t *Taker) readReply(ctx context.Context) (interview.Submission, error) {
	if hint := t.hint(); hint != "" && t.Term.Live {
		fmt.Fprintln(t.Out, t.Term.Paint(console.Faint, "("+hint+")"))
	}
	in := interview.Submission{Session: t.view.SessionID, ReplyTo: t.view.MessageID}
	for {
		if t.Term.Live {
			fmt.Fprint(t.Out, "> ")
		}
		text, err := input.ReadAnswer(ctx, t.lines)
		if err != nil {
			return in, err
		}
		switch {
		case t.view.AutoContinue:
			in.Event = interview.EventRetry
		case strings.TrimSpace(text) != "" && t.view.ExpectsAnswer:
			in.Message = text
		case t.view.ExpectsAnswer && t.view.Kind != session.KindMirror:
			continue // an empty line is not an answer
		default:
			in.Event = interview.EventGo
		}
		return in, nil
	}
}
