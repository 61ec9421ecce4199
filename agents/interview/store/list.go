package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// List implements session.Store.
func (s *Store) List(ctx context.Context, l session.Listing) ([]session.Session, error) {
	statement, args, err := listing(l)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	found, err := read(ctx, s, scanSession, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return found, nil
}

// orders are the columns of session.Sort.Key, and the direction of each order.
var orders = map[session.Sort]struct{ column, direction string }{
	session.Newest:  {"s.created_ns", "DESC"},
	session.Oldest:  {"s.created_ns", "ASC"},
	session.Latest:  {"s.since_ns", "DESC"},
	session.Longest: {"s.since_ns", "ASC"},
	session.Dearest: {"s.cost_ue", "DESC"},
}

// listing returns the statement of a listing. Values are always arguments.
func listing(l session.Listing) (statement string, args []any, err error) {
	if l.Sort == "" {
		l.Sort = session.Newest
	}
	order, ok := orders[l.Sort]
	if !ok {
		return "", nil, fmt.Errorf("unknown order %.40q", l.Sort)
	}
	var conditions []string
	// add adds a condition, whose question marks stand for values.
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprint("$", len(args)), 1)
		}
		conditions = append(conditions, condition)
	}
	if l.Candidate != "" {
		add("s.candidate = ?", l.Candidate)
	}
	if l.Job != "" {
		add("s.job = ?", l.Job)
	}
	if l.Invitation != "" {
		add("s.invitation = ?", l.Invitation)
	}
	if l.Status != "" {
		add("s.status = ?", string(l.Status))
	}
	if !l.From.IsZero() {
		add("s.created_ns >= ?", session.Nanoseconds(l.From))
	}
	if !l.Before.IsZero() {
		add("s.created_ns < ?", session.Nanoseconds(l.Before))
	}
	if l.MinCost != nil {
		add("s.cost_ue >= ?", session.MicroEUR(*l.MinCost))
	}
	if l.MaxCost != nil {
		add("s.cost_ue <= ?", session.MicroEUR(*l.MaxCost))
	}
	key, id, paged, err := l.Position()
	if err != nil {
		return "", nil, err
	}
	if paged {
		beyond := map[string]string{"ASC": ">", "DESC": "<"}[order.direction]
		add("("+order.column+", s.id) "+beyond+" (?, ?)", key, id)
	}
	statement = sessions
	if conditions != nil {
		statement += "WHERE " + strings.Join(conditions, " AND ")
	}
	if l.Limit <= 0 {
		l.Limit = 100
	}
	args = append(args, l.Limit)
	return fmt.Sprintf("%s ORDER BY %s %s, s.id %[3]s LIMIT $%d", statement, order.column, order.direction, len(args)), args, nil
}

// Counts implements session.Store.
func (s *Store) Counts(ctx context.Context, before time.Time) ([]session.StatusCount, error) {
	found, err := read(ctx, s, func(rows *sql.Rows) (c session.StatusCount, err error) {
		var oldest int64
		err = rows.Scan(&c.Status, &c.Sessions, &c.Overdue, &oldest)
		c.Oldest = time.Unix(0, oldest).UTC()
		return c, err
	}, countStatuses, session.Nanoseconds(before))
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	return found, nil
}

// Costs implements session.Store.
func (s *Store) Costs(ctx context.Context, from string) ([]session.Total, error) {
	found, err := read(ctx, s, func(rows *sql.Rows) (t session.Total, err error) {
		return t, rows.Scan(&t.Day, &t.Currency, &t.Calls, &t.Unpriced, &t.Cost)
	}, sumCosts, from, from)
	if err != nil {
		return nil, fmt.Errorf("add up the costs: %w", err)
	}
	return found, nil
}
