package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/stat"
)

// ErrNotFound means that no stored run has an id.
var ErrNotFound = errors.New("not found in the history")

// condition returns the condition of a filter on history_runs r, and its arguments.
func condition(f history.Filter) (where string, args []any) {
	var parts []string
	add := func(part string, arg any) {
		args = append(args, arg)
		parts = append(parts, fmt.Sprintf(part, len(args)))
	}
	prefix := func(column, text string) {
		add(column+" >= $%d", text)
		add(column+" < $%d", text+"~") // above all hexadecimal digits
	}
	if f.ID != "" {
		prefix("r.id", f.ID)
	}
	if f.Commit != "" {
		prefix("r.commit_id", f.Commit)
	}
	if f.Branch != "" {
		add("r.branch = $%d", f.Branch)
	}
	if f.SHA256 != "" {
		add("r.sha256 = $%d", f.SHA256)
	}
	if !f.All && f.ID == "" && f.SHA256 == "" {
		parts = append(parts, "r.kind IN ('"+string(history.Plain)+"', '"+string(history.Merged)+"')")
	}
	if !f.Until.IsZero() {
		add("r.at_ns <= $%d", f.Until.UnixNano())
	}
	if !f.Before.IsZero() {
		add("r.at_ns < $%d", f.Before.UnixNano())
	}
	if len(parts) > 0 {
		where = " WHERE " + strings.Join(parts, " AND ")
	}
	return where, args
}

// newest returns the order, the newest first, and the limit of a filter.
func newest(f history.Filter) string {
	order := " ORDER BY r.at_ns DESC, r.seq DESC"
	if f.Limit > 0 || f.Skip > 0 {
		order += fmt.Sprintf(" LIMIT %d OFFSET %d", cmp.Or(f.Limit, 1<<40), f.Skip)
	}
	return order
}

// Runs returns runs, the newest first.
func (s *Store) Runs(ctx context.Context, f history.Filter) ([]history.Run, error) {
	where, args := condition(f)
	runs, err := query(ctx, s, scanRun, `SELECT r.body FROM history_runs r`+where+newest(f), args...)
	if err != nil {
		return nil, fmt.Errorf("list the runs of the history: %w", err)
	}
	return runs, nil
}

// Entry returns a run with its results. The error of an unknown id wraps ErrNotFound.
func (s *Store) Entry(ctx context.Context, id string) (e history.Entry, err error) {
	runs, err := s.Runs(ctx, history.Filter{ID: id, Limit: 1})
	switch {
	case err != nil:
		return e, err
	case len(runs) == 0:
		return e, fmt.Errorf("run %s: %w", id, ErrNotFound)
	}
	e.Run = runs[0]
	e.Results, err = query(ctx, s, scanBody[history.Result], `SELECT o.body FROM history_results t
		JOIN history_runs r ON r.seq = t.run JOIN history_outcomes o ON o.id = t.outcome WHERE r.id = $1`, e.ID)
	if err != nil {
		return e, fmt.Errorf("read the results of run %s: %w", e.ID, err)
	}
	slices.SortFunc(e.Results, func(a, b history.Result) int { return strings.Compare(a.Name, b.Name) })
	return e, nil
}

// columns of history_results t, history_runs r, history_outcomes o and history_scenarios s that make
// a point.
const columns = `s.name, s.variant, r.id, r.at_ns, r.commit_id, r.branch, r.dirty, r.prices, o.digest, o.real_time,
	t.verdict, t.pass, t.fail, t.error, t.skip, t.outcome`

// stored is a point with the key of its outcome.
type stored struct {
	history.Point
	outcome int64
}

func scanPoint(rows *sql.Rows) (p stored, err error) {
	var at int64
	var dirty, realTime int
	var verdict string
	err = rows.Scan(&p.Scenario, &p.Variant, &p.Run, &at, &p.Commit, &p.Branch, &dirty, &p.Prices, &p.Digest, &realTime,
		&verdict, &p.Trials.Pass, &p.Trials.Fail, &p.Trials.Error, &p.Trials.Skip, &p.outcome)
	p.At, p.Dirty, p.RealTime, p.Verdict = time.Unix(0, at).UTC(), dirty != 0, realTime != 0, gate.Verdict(verdict)
	return p, err
}

// Trend returns the results of a scenario, the oldest first, with the named measures, or with all of them
// if no name is given.
func (s *Store) Trend(ctx context.Context, of history.Identity, f history.Filter, names ...string) ([]history.Point, error) {
	where, args := condition(f)
	args = append(args, of.Scenario, of.Variant)
	where = strings.Replace(where, " WHERE ", " AND ", 1)
	list, err := query(ctx, s, scanPoint, `SELECT `+columns+` FROM history_scenarios s
		JOIN history_results t ON t.scenario = s.id JOIN history_runs r ON r.seq = t.run JOIN history_outcomes o ON o.id = t.outcome
		WHERE s.name = `+fmt.Sprintf("$%d AND s.variant = $%d", len(args)-1, len(args))+where+newest(f), args...)
	if err != nil {
		return nil, fmt.Errorf("read the trend of %s: %w", of, err)
	}
	measures, err := s.measures(ctx, list, names)
	if err != nil {
		return nil, fmt.Errorf("read the measures of %s: %w", of, err)
	}
	points := make([]history.Point, len(list))
	for i, p := range list {
		p.Measures = measures[p.outcome]
		points[len(list)-1-i] = p.Point
	}
	return points, nil
}

// measures returns the named measures of outcomes, or all of them if names is empty.
func (s *Store) measures(ctx context.Context, list []stored, names []string) (map[int64][]history.PointMeasure, error) {
	seen := map[int64]bool{}
	var keys []any
	for _, p := range list {
		if !seen[p.outcome] {
			seen[p.outcome] = true
			keys = append(keys, p.outcome)
		}
	}
	all := map[int64][]history.PointMeasure{}
	for chunk := range slices.Chunk(keys, maxParameters) {
		named := ""
		if len(names) > 0 {
			named = ` AND name IN ` + s.tuple(len(chunk)+1, len(names))
			chunk = slices.Clip(chunk)
			for _, name := range names {
				chunk = append(chunk, name)
			}
		}
		_, err := query(ctx, s, func(rows *sql.Rows) (struct{}, error) {
			outcome, m, err := scanMeasure(rows)
			all[outcome] = append(all[outcome], m)
			return struct{}{}, err
		}, `SELECT outcome, name, unit, known, value, lo, hi, n, alike FROM history_measures
			WHERE outcome IN `+s.tuple(1, len(chunk)-len(names))+named+` ORDER BY outcome, name`, chunk...)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

func scanMeasure(rows *sql.Rows) (outcome int64, m history.PointMeasure, err error) {
	var known, alike int
	var value, lo, hi sql.NullFloat64
	if err = rows.Scan(&outcome, &m.Name, &m.Unit, &known, &value, &lo, &hi, &m.N, &alike); err != nil {
		return 0, m, err
	}
	m.Known, m.Alike = known != 0, alike != 0
	if value.Valid {
		m.Value = &value.Float64
	}
	if lo.Valid {
		m.Interval = &stat.Interval{Lo: lo.Float64, Hi: hi.Float64, Level: stat.Level, Method: "student-t", N: m.N}
	}
	return outcome, m, nil
}

// Points returns the results of all scenarios in the runs of a filter, sorted by scenario and then by
// age, the oldest first.
func (s *Store) Points(ctx context.Context, f history.Filter) ([]history.Point, error) {
	where, args := condition(f)
	list, err := query(ctx, s, func(rows *sql.Rows) (history.Point, error) {
		p, err := scanPoint(rows)
		return p.Point, err
	}, `SELECT `+columns+` FROM (SELECT * FROM history_runs r`+where+newest(f)+`) r
		JOIN history_results t ON t.run = r.seq JOIN history_scenarios s ON s.id = t.scenario JOIN history_outcomes o ON o.id = t.outcome
		ORDER BY s.name, s.variant, r.at_ns, r.seq`, args...)
	if err != nil {
		return nil, fmt.Errorf("read the results of the history: %w", err)
	}
	return list, nil
}

// Scenarios returns all scenarios, sorted.
func (s *Store) Scenarios(ctx context.Context) ([]history.Identity, error) {
	list, err := query(ctx, s, func(rows *sql.Rows) (i history.Identity, err error) {
		return i, rows.Scan(&i.Scenario, &i.Variant)
	}, `SELECT name, variant FROM history_scenarios ORDER BY name, variant`)
	if err != nil {
		return nil, fmt.Errorf("list the scenarios of the history: %w", err)
	}
	return list, nil
}

// Renamed returns the scenarios that may be earlier names of one: their last result is older than its
// first result, and has the same expectations and settings.
func (s *Store) Renamed(ctx context.Context, of history.Identity) ([]history.Identity, error) {
	list, err := query(ctx, s, func(rows *sql.Rows) (i history.Identity, err error) {
		i.Variant = of.Variant
		return i, rows.Scan(&i.Scenario)
	}, `WITH mine AS (
			SELECT s.id, r.at_ns, o.settings FROM history_scenarios s JOIN history_results t ON t.scenario = s.id
			JOIN history_runs r ON r.seq = t.run JOIN history_outcomes o ON o.id = t.outcome
			WHERE s.name = $1 AND s.variant = $2 ORDER BY r.at_ns, r.seq LIMIT 1)
		SELECT s.name FROM mine JOIN history_outcomes o ON o.settings = mine.settings
		JOIN history_results t ON t.outcome = o.id JOIN history_scenarios s ON s.id = t.scenario
		JOIN history_runs r ON r.seq = t.run
		WHERE s.id <> mine.id AND s.variant = $2 AND mine.at_ns > (SELECT min(at_ns) FROM history_runs)
		GROUP BY s.id, s.name, mine.at_ns
		HAVING (SELECT max(l.at_ns) FROM history_results u JOIN history_runs l ON l.seq = u.run WHERE u.scenario = s.id) < mine.at_ns
		ORDER BY max(r.at_ns) DESC, s.name`, of.Scenario, of.Variant)
	if err != nil {
		return nil, fmt.Errorf("look for earlier names of %s: %w", of, err)
	}
	return list, nil
}

// scanRun decodes a run, which an earlier version may have stored without a kind.
func scanRun(rows *sql.Rows) (history.Run, error) {
	r, err := scanBody[history.Run](rows)
	r.Kind = cmp.Or(r.Kind, history.Plain)
	return r, err
}

// scanBody decodes a row with one column of JSON.
func scanBody[T any](rows *sql.Rows) (v T, err error) {
	var body sql.RawBytes
	if err := rows.Scan(&body); err != nil {
		return v, err
	}
	return v, json.Unmarshal(body, &v)
}

// query returns the rows of a statement.
func query[T any](ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), statement string, args ...any) (found []T, err error) {
	rows, err := s.db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("a row cannot be read: %w", err)
		}
		found = append(found, v)
	}
	if err := rows.Err(); err != nil {
		return nil, explain(err)
	}
	return found, nil
}
