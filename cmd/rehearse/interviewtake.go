package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind/cast"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// takeFlags are the flags of interview take.
type takeFlags struct {
	modelFlags
	store       string
	resume      string
	candidate   string
	language    string
	as          string
	instance    string
	callTimeout time.Duration
}

func (a *app) interviewTakeCommand() *cobra.Command {
	var flags takeFlags
	cmd := &cobra.Command{
		Use:   "take",
		Short: "Take an interview here, in the terminal",
		Long: `take asks its questions on standard output and reads each answer as one line of standard input; a
line that ends in \ goes on with the next. An empty line goes on where nothing is asked. What was
answered is kept: end with Ctrl-C or Ctrl-D and go on with --resume. --as lets a persona answer.

Exit codes: 0 finished; 1 ended before that; 2 usage; 3 the store did not open; 130 interrupted.`,
		Example: `  rehearse interview take --script lea
  rehearse interview take --script tom --language en --candidate me
  rehearse interview take --script lea --resume me
  rehearse interview take --script lea --as lea --time-scale 0.001`,
		Args: arguments(0, 0, "take takes no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.interviewTake(cmd.Context(), flags) },
	}
	flags.register(cmd)
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	f.StringVar(&flags.resume, "resume", "", "go on with this session, or this candidate's newest one")
	f.StringVar(&flags.candidate, "candidate", "", "the candidate's id (default: one is made up)")
	f.StringVar(&flags.language, "language", string(session.French), "language of a new interview: fr or en")
	f.StringVar(&flags.as, "as", "", "let a persona answer: "+personas())
	f.StringVar(&flags.instance, "instance", "take", "name under which this command works on the store")
	f.DurationVar(&flags.callTimeout, "call-timeout", time.Minute, "the longest that one call to the model may take")
	cmd.MarkFlagsMutuallyExclusive("resume", "candidate")
	cmd.MarkFlagsMutuallyExclusive("resume", "language", "as")
	_ = cmd.RegisterFlagCompletionFunc("language", cobra.FixedCompletions([]string{"fr", "en"}, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("resume", a.completeSessions)
	_ = cmd.RegisterFlagCompletionFunc("as", cobra.FixedCompletions(cast.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) interviewTake(ctx context.Context, flags takeFlags) (err error) {
	t := taker{app: a, term: tty.Of(a.stdout, a.getenv)}
	first := interview.Submission{
		Event: interview.EventStart, Candidate: flags.candidate, Language: session.Language(flags.language),
	}
	if flags.as != "" {
		if t.persona, err = a.persona(flags.as); err != nil {
			return err
		}
		first.Language = t.persona.Language
	}
	means, err := a.interviewMeans(ctx, flags.modelFlags, flags.store, flags.instance)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, means.close()) }()
	t.service, err = a.interviewService(interview.Options{
		Model: flags.model, CallTimeout: flags.callTimeout, Instance: flags.instance,
	}, interview.Deps{Store: means.store, Backend: means.backend, Count: means.count}, flags.prices)
	if err != nil {
		return usage(err)
	}
	if flags.resume != "" {
		found, err := findSession(ctx, means.store, flags.resume, false)
		if err != nil {
			return err
		}
		first = interview.Submission{Event: interview.EventResume, Session: found.ID}
	}
	if t.persona == nil {
		t.lines = input.Lines(a.stdin)
	}
	return t.take(ctx, first)
}

// persona is one of the cast.
func (a *app) persona(name string) (*cast.Persona, error) {
	if !slices.Contains(cast.Names(), name) {
		return nil, notAmong("persona", name, cast.Names())
	}
	p, err := cast.Load(name)
	if err != nil {
		return nil, noVerdict(err)
	}
	return &p, nil
}

// taker shows an interview and sends what a person types.
type taker struct {
	*app
	service *interview.Service
	term    tty.Terminal
	persona *cast.Persona // answers, where there is one
	lines   <-chan string
	view    interview.View
	retried bool // the persona has asked for another try
}

// errLeft says that the input ended.
var errLeft = errors.New("the input ended")

// take goes on from a first submission until the interview is finished.
func (t *taker) take(ctx context.Context, first interview.Submission) error {
	if err := t.send(ctx, first); err != nil {
		return err
	}
	for !t.view.Finished {
		next, err := t.reply(ctx)
		if err != nil {
			return t.leave(err)
		}
		if err := t.send(ctx, next); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.stderr, "\nThis was the interview. It is kept as session %s.\n", t.view.SessionID)
	return nil
}

// send sends a submission and shows what comes of it. Its error ends the
// interview here: there is nothing to go on from.
func (t *taker) send(ctx context.Context, in interview.Submission) error {
	if t.term.Live && (in.Event != interview.EventStart && in.Event != interview.EventResume) {
		fmt.Fprintln(t.stdout, t.term.Paint(tty.Faint, "…"))
	}
	view, err := t.service.Handle(ctx, in)
	failed, ok := errors.AsType[*interview.Error](err)
	switch {
	case err == nil:
		t.view = view
		t.show()
		return nil
	case !ok:
		return noVerdict(err)
	case failed.View == nil && t.view.SessionID == "":
		return usage(failed)
	case failed.View != nil:
		t.view = *failed.View
	}
	fmt.Fprintf(t.stderr, "\n%s\n", sanitize.Line(failed.Message, 0))
	return nil
}

// show prints the message and how to reply to it.
func (t *taker) show() {
	fmt.Fprintf(t.stdout, "\n%s\n", sanitize.Text(t.view.Response, 0))
}

// hint says what to type.
func (t *taker) hint() string {
	switch {
	case t.view.AutoContinue:
		return "press Enter to let the interviewer try again"
	case !t.view.ExpectsAnswer:
		return "press Enter to go on"
	case t.view.Kind == session.KindMirror:
		return "answer, or press Enter to go on"
	}
	return ""
}

// reply is what the candidate does next.
func (t *taker) reply(ctx context.Context) (interview.Submission, error) {
	if t.persona == nil {
		return t.next(ctx)
	}
	in := interview.Submission{Session: t.view.SessionID, ReplyTo: t.view.MessageID}
	switch {
	case ctx.Err() != nil:
		return in, context.Cause(ctx)
	case t.view.AutoContinue && t.retried:
		return in, errLeft
	case t.view.AutoContinue:
		t.retried, in.Event = true, interview.EventRetry
		return in, nil
	case t.view.Kind == session.KindMirror:
		in.Message = t.persona.Comment(t.view.Step)
	case t.view.ExpectsAnswer:
		in.Message = t.persona.Answer(t.view.Step, max(t.view.QuestionIndex, 0))
	}
	if in.Message == "" {
		in.Event = interview.EventGo
		return in, nil
	}
	fmt.Fprintf(t.stdout, "\n> %s\n", strings.ReplaceAll(sanitize.Text(in.Message, 0), "\n", "\n> "))
	return in, nil
}

// next reads what the person does next.
func (t *taker) next(ctx context.Context) (interview.Submission, error) {
	if hint := t.hint(); hint != "" && t.term.Live {
		fmt.Fprintln(t.stdout, t.term.Paint(tty.Faint, "("+hint+")"))
	}
	in := interview.Submission{Session: t.view.SessionID, ReplyTo: t.view.MessageID}
	for {
		if t.term.Live {
			fmt.Fprint(t.stdout, "> ")
		}
		text, err := readAnswer(ctx, t.lines)
		if err != nil {
			return in, err
		}
		switch {
		case t.view.AutoContinue:
			in.Event = interview.EventRetry
		case strings.TrimSpace(text) != "" && t.view.ExpectsAnswer:
			in.Message = text
		case t.view.ExpectsAnswer && t.view.Kind != session.KindMirror:
			continue // an empty line is no answer
		default:
			in.Event = interview.EventGo
		}
		return in, nil
	}
}

// readAnswer reads a line, and those after it that it is joined to by \.
func readAnswer(ctx context.Context, lines <-chan string) (string, error) {
	var b strings.Builder
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case line, ok := <-lines:
			if !ok {
				return "", errLeft
			}
			more := strings.TrimSuffix(line, `\`)
			b.WriteString(more)
			if more == line {
				return b.String(), nil
			}
			b.WriteByte('\n')
		}
	}
}

// leave says how to go on later.
func (t *taker) leave(err error) error {
	fmt.Fprintf(t.stderr, "\nWhat you answered is kept. Go on with: rehearse interview take --resume %s …\n", t.view.SessionID)
	if errors.Is(err, errLeft) {
		return quiet(exitFail)
	}
	return quiet(exitInterrupted)
}
