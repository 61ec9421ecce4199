package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// takeFlags are the flags of interview take.
type takeFlags struct {
	modelFlags
	contentFlags
	store       string
	resume      string
	candidate   string
	language    string
	jobID       string
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
line that ends in \ continues on the next one. Where nothing is asked, an empty line continues.
Answers are stored: end with Ctrl-C or Ctrl-D, and continue with --resume. With --as a persona
answers.

Exit codes: 0 finished; 1 ended before that; 2 usage; 3 the store did not open; 130 interrupted.`,
		Example: `  rehearse interview take --script lea
  rehearse interview take --script tom --language en --candidate me
  rehearse interview take --script lea --resume me
  rehearse interview take --live --job nurse.yaml --prompts my-prompts
  rehearse interview take --live --job nurse.yaml --job buyer.yaml --job-id buyer
  rehearse interview take --script lea --as lea --time-scale 0.001`,
		Args: arguments(0, 0, "take takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.interviewTake(cmd.Context(), flags) },
	}
	flags.modelFlags.register(cmd)
	f := cmd.Flags()
	flags.contentFlags.register(f)
	a.storeFlag(f, &flags.store)
	f.StringVar(&flags.resume, "resume", "", "continue this session, or this candidate's newest one")
	f.StringVar(&flags.candidate, "candidate", "", "the candidate's id (default: a new one)")
	f.StringVar(&flags.language, "language", "", "language of a new interview: fr or en (default fr, if the job is described in it)")
	f.StringVar(&flags.jobID, "job-id", "", "`id` of the job of a new interview, if --job gives several")
	f.StringVar(&flags.as, "as", "", "let a persona answer: "+personas())
	f.StringVar(&flags.instance, "instance", "take", "name under which this command works on the store")
	f.DurationVar(&flags.callTimeout, "call-timeout", time.Minute, "time limit of one call to the model")
	cmd.MarkFlagsMutuallyExclusive("resume", "candidate")
	cmd.MarkFlagsMutuallyExclusive("resume", "language", "as")
	cmd.MarkFlagsMutuallyExclusive("resume", "job-id")
	complete(cmd, "language", "fr", "en")
	_ = cmd.RegisterFlagCompletionFunc("resume", a.completeSessions)
	complete(cmd, "as", kind.Personas()...)
	return cmd
}

func (a *app) interviewTake(ctx context.Context, flags takeFlags) (err error) {
	t := cli.Taker{Out: a.stdout, Notes: a.stderr, Term: console.TerminalOf(a.stdout, a.getenv), Stdin: a.stdin}
	first := interview.Submission{
		Event: interview.EventStart, Candidate: flags.candidate, Language: session.Language(flags.language), Job: flags.jobID,
	}
	if flags.as != "" {
		if !slices.Contains(kind.Personas(), flags.as) {
			return notAmong("persona", flags.as, kind.Personas())
		}
		persona, err := kind.LoadPersona(flags.as)
		if err != nil {
			return noVerdict(err)
		}
		t.Persona, first.Language = &persona, persona.Language
	}
	count := newCounter()
	about, err := flags.load(count, flags.model)
	if err != nil {
		return usage(err)
	}
	means, err := a.interviewMeans(ctx, flags.modelFlags, flags.store, flags.instance, count)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, means.close()) }()
	t.Service, err = a.interviewService(interview.Options{
		Model: flags.model, CallTimeout: flags.callTimeout, Instance: flags.instance,
	}, interview.Deps{Store: means.store, Backend: means.backend, Count: count, Jobs: about.jobs, Prompts: about.prompts}, flags.prices)
	if err != nil {
		return usage(err)
	}
	if flags.resume != "" {
		found, err := cli.Find(ctx, means.store, flags.resume, false)
		if err != nil {
			return interviewError(err)
		}
		first = interview.Submission{Event: interview.EventResume, Session: found.ID}
	}
	err = t.Take(ctx, first)
	_, refused := errors.AsType[*interview.Error](err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, input.ErrEnd):
		return quiet(exitFail)
	case refused:
		return usage(err)
	case ctx.Err() != nil:
		return quiet(exitInterrupted)
	}
	return noVerdict(err)
}
