package store

import (
	"context"
	"errors"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// The methods of session.Store about what Memory never contains, or does not support.

// List implements session.Store.
func (m *Memory) List(context.Context, session.Listing) ([]session.Session, error) {
	return nil, errors.ErrUnsupported
}

// Counts implements session.Store.
func (m *Memory) Counts(context.Context, time.Time) ([]session.StatusCount, error) {
	return nil, errors.ErrUnsupported
}

// Costs implements session.Store.
func (m *Memory) Costs(context.Context, string) ([]session.Total, error) {
	return nil, errors.ErrUnsupported
}

// Delete implements session.Store.
func (m *Memory) Delete(context.Context, string, int64) error { return errors.ErrUnsupported }

// DeletedTotals implements session.Store.
func (m *Memory) DeletedTotals(context.Context) ([]session.Total, error) {
	return nil, errors.ErrUnsupported
}

// Invitation implements session.Store.
func (m *Memory) Invitation(context.Context, string) (session.Invitation, error) {
	return session.Invitation{}, session.ErrNotFound
}

// Shares implements session.Store.
func (m *Memory) Shares(context.Context, string) ([]session.Share, error) { return nil, nil }

// OpenShare implements session.Store.
func (m *Memory) OpenShare(context.Context, string, time.Time) (session.Share, error) {
	return session.Share{}, session.ErrNotFound
}

// CountTry implements session.Store.
func (m *Memory) CountTry(context.Context, string, string, int) (bool, error) {
	return false, errors.ErrUnsupported
}

// ForgetTries implements session.Store.
func (m *Memory) ForgetTries(context.Context, string) error { return errors.ErrUnsupported }
