package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// eraseTries is the number of attempts to delete a session that changes in the meantime.
const eraseTries = 10

// Erase deletes a session, also if it is changed at the same time.
func Erase(ctx context.Context, store Store, id string) error {
	var err error
	for range eraseTries {
		var s Session
		if s, err = store.Load(ctx, id); err != nil {
			return err
		}
		if err = store.Delete(ctx, id, s.Version); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%w; try again in a moment", err)
}

// EraseUnused deletes the sessions whose last change is before a time, finished or not, and returns
// their number. It leaves a session that is changed at the same time.
func EraseUnused(ctx context.Context, store Store, since time.Time) (erased int, err error) {
	// A session is created before its last change.
	for s, err := range Each(ctx, store, Listing{Before: since}) {
		if err != nil {
			return erased, err
		}
		if !s.Updated.Before(since) {
			continue
		}
		switch err := store.Delete(ctx, s.ID, s.Version); {
		case err == nil:
			erased++
		case errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound): // used or deleted meanwhile
		default:
			return erased, err
		}
	}
	return erased, nil
}
