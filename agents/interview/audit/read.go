package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// readTries is the number of attempts to read a session that changes in the meantime.
const readTries = 5

// errChanging means that a session changed during each attempt to read it.
var errChanging = errors.New("the session keeps changing; try again in a moment")

// Read reads all data of a session at one version.
func Read(ctx context.Context, store session.Store, id string) (Data, error) {
	for range readTries {
		d, err := readOnce(ctx, store, id)
		if err != nil {
			return Data{}, fmt.Errorf("read session %s: %w", id, err)
		}
		now, err := store.Load(ctx, id)
		if err != nil {
			return Data{}, fmt.Errorf("read session %s: %w", id, err)
		}
		if now.Version == d.Session.Version {
			return d, nil
		}
	}
	return Data{}, fmt.Errorf("read session %s: %w", id, errChanging)
}

func readOnce(ctx context.Context, store session.Store, id string) (d Data, err error) {
	if d.Session, err = store.Load(ctx, id); err != nil {
		return d, err
	}
	if d.Messages, err = store.Messages(ctx, id); err != nil {
		return d, err
	}
	if d.Answers, err = store.Answers(ctx, id); err != nil {
		return d, err
	}
	if d.Queues, err = store.Queues(ctx, id); err != nil {
		return d, err
	}
	if d.Calls, err = store.Calls(ctx, id); err != nil {
		return d, err
	}
	d.Shares, err = store.Shares(ctx, id)
	return d, err
}
