package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// All returns the sessions of a candidate, or of all candidates if it is empty, whose last change is
// before a time; the zero time selects all.
func All(ctx context.Context, st session.Store, candidate string, unusedSince time.Time) (found []session.Session, err error) {
	for s, err := range session.Each(ctx, st, session.Listing{Candidate: candidate, Before: unusedSince}) {
		if err != nil {
			return nil, searchError(err)
		}
		if unusedSince.IsZero() || s.Updated.Before(unusedSince) {
			found = append(found, s)
		}
	}
	return found, nil
}

// Costs are the sums of the calls of a store by day, model and currency.
type Costs struct {
	Totals []session.Total `json:"totals"`
	// Deleted is the part of Totals that belongs to deleted sessions.
	Deleted []session.Total `json:"deleted"`
}

// CostsOf returns the costs of all sessions, also of deleted ones.
func CostsOf(ctx context.Context, st session.Store) (c Costs, err error) {
	deleted, err := st.DeletedTotals(ctx)
	if err != nil {
		return c, &StoreError{err}
	}
	c.Deleted = append([]session.Total{}, deleted...) // not null in JSON
	c.Totals = slices.Clone(c.Deleted)
	sessions, err := All(ctx, st, "", time.Time{})
	if err != nil {
		return c, err
	}
	for _, s := range sessions {
		calls, err := st.Calls(ctx, s.ID)
		if err != nil {
			return c, &StoreError{fmt.Errorf("sum the calls: %w", err)}
		}
		c.Totals = append(c.Totals, session.Totals(calls)...)
	}
	c.Totals = session.AddTotals(c.Totals)
	return c, nil
}

// Print prints a table with a row for each day, model and currency.
func (c Costs) Print(out io.Writer) error {
	w := console.Table(2, 3, 4, 5, 6, 7)
	w.AppendHeader(table.Row{"day (UTC)", "model", "calls", "unpriced", "tokens in", "out", "cost", ""})
	for _, t := range c.Totals {
		w.AppendRow(table.Row{t.Day, t.Model, t.Calls, t.Unpriced, t.Input, t.Output, fmt.Sprintf("%.4f", t.Cost), t.Currency})
	}
	_, err := fmt.Fprintln(out, w.Render())
	return err
}
