package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/kinds/evaluate"
)

// checkFit returns an error for flags that --fit does not use.
func (d *detectFlags) checkFit() error {
	switch {
	case d.fit == "":
		return nil
	case d.detector != "" || d.against != "":
		return errors.New("--fit scores the guard with the fitted weights beside the shipped ones; leave out --detector and --against")
	case d.threshold != 0:
		return errors.New("--fit chooses the thresholds; leave out --threshold")
	}
	return nil
}

// fitGuard fits weights to the items of the plan and writes them to a file.
func (a *app) fitGuard(ctx context.Context, plan *evaluate.Plan, flags detectFlags) error {
	view := console.NewView(a.stderr, a.terminal(), redactor())
	weights, err := plan.Fit(ctx, flags.workers, func(done, all int) { view.Update(fmt.Sprintf("fit %d of %d", done, all)) })
	view.Close()
	switch {
	case clock.Err(ctx) != nil:
		return quiet(exitInterrupted)
	case err != nil:
		return usage(err)
	}
	content, err := weights.MarshalBinary()
	if err == nil {
		err = atomicdir.Replace(flags.fit, content)
	}
	if err != nil {
		return noVerdict(fmt.Errorf("write the weights: %w", err))
	}
	fmt.Fprintf(a.stderr, "the weights are in %s; use them with: rehearse guard --weights %[1]s\n", flags.fit)
	return nil
}
