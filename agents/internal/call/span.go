package call

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Span is the time of a run.
type Span struct {
	// Outer ends with the user's interrupt or at the caller's deadline, Run also
	// when the run's own Timeout is up.
	Outer, Run context.Context
	Timeout    quantity.Duration
}

// Interrupted is why the user interrupted the run; nil if nobody did.
func (s Span) Interrupted() error {
	err := clock.Err(s.Outer)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// Over is why the time of a run that was not interrupted is up: for a person, and
// as an error, which is nil if there is time left. Own says that it was the run's
// own timeout.
func (s Span) Over() (details string, own bool, err error) {
	err = clock.Err(s.Run)
	switch {
	case err == nil:
		return "", false, nil
	case clock.Err(s.Outer) != nil:
		return "stopped at the caller's deadline", false, err
	}
	// The time that passed is no part of the text: on a real clock no two runs
	// would say the same.
	return fmt.Sprintf("stopped as the time was up (timeout %s)", s.Timeout), true, err
}
