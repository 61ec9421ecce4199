package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/history"
)

// Skew is the difference of two clocks above which the clock of the database is used.
const Skew = 2 * time.Minute

// Add stores a run with its results in one transaction, and sets its At. It returns false, and changes
// nothing, if a run with its id is stored already. live is true if the run has just ended: its times are
// then compared with the clock of the database.
func (s *Store) Add(ctx context.Context, e *history.Entry, live bool) (added bool, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("store run %s in the history: %w", e.ID, explain(err))
		}
	}()
	now, err := s.clock(ctx)
	if err != nil {
		return false, err
	}
	e.Kind = cmp.Or(e.Kind, history.Plain)
	e.At = order(&e.Run, now, s.now(), live)
	outcomes, err := outcomesOf(e)
	if err != nil {
		return false, err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	if added, err = add(ctx, transaction{tx, s.tuple}, e, outcomes); err != nil || !added {
		return false, err
	}
	return true, tx.Commit()
}

// order returns the time that orders a run: its start, but at most the time of the database. The start of a
// live run is corrected if the clock of its machine is wrong.
func order(r *history.Run, database, machine time.Time, live bool) time.Time {
	at := r.Began
	if skew := database.Sub(machine); live && skew.Abs() > Skew {
		at = at.Add(skew)
	}
	if at.After(database) {
		at = database
	}
	return at.UTC()
}

// outcome is a result that several runs may share.
type outcome struct {
	*history.Result
	body, sum string
}

func outcomesOf(e *history.Entry) ([]outcome, error) {
	list := make([]outcome, len(e.Results))
	for i := range e.Results {
		body, err := encode(&e.Results[i])
		if err != nil {
			return nil, fmt.Errorf("encode the result of %s: %w", e.Results[i].Name, err)
		}
		sum := sha256.Sum256(body)
		list[i] = outcome{&e.Results[i], string(body), hex.EncodeToString(sum[:])}
	}
	return list, nil
}

// encode returns equal JSON for equal values, and keeps the difference between nil and empty.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), json.FormatNilSliceAsNull(true), json.FormatNilMapAsNull(true),
		jsontext.AllowInvalidUTF8(true))
}

func add(ctx context.Context, tx transaction, e *history.Entry, outcomes []outcome) (bool, error) {
	body, err := encode(e.Run)
	if err != nil {
		return false, fmt.Errorf("encode the run: %w", err)
	}
	r := &e.Run
	var run int64
	err = tx.QueryRowContext(ctx, `INSERT INTO history_runs (id, at_ns, began_ns, ended_ns, variant, commit_id, branch, dirty,
			prices, sha256, verdict, pass, fail, error, skip, trials, cost_eur, body, kind)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (id) DO NOTHING RETURNING seq`,
		r.ID, r.At.UnixNano(), nanoseconds(r.Began), nanoseconds(r.Ended), clean(r.Variant), clean(r.Commit), clean(r.Branch),
		number(r.Dirty), clean(r.Prices), r.SHA256, string(r.Verdict), r.Scenarios.Pass, r.Scenarios.Fail, r.Scenarios.Error,
		r.Scenarios.Skip, r.Trials, r.CostEUR, string(body), string(r.Kind)).Scan(&run)
	if err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
		return false, nil
	}
	if err != nil {
		return false, err
	}
	scenarios, err := scenarioIDs(ctx, tx, clean(r.Variant), outcomes)
	if err != nil {
		return false, err
	}
	ids, err := outcomeIDs(ctx, tx, outcomes)
	if err != nil {
		return false, err
	}
	rows := make([][]any, len(outcomes))
	for i, o := range outcomes {
		t := o.Trials
		rows[i] = []any{run, scenarios[clean(o.Name)], ids[o.sum], string(o.Verdict), t.Pass, t.Fail, t.Error, t.Skip}
	}
	return true, insert(ctx, tx, `history_results (run, scenario, outcome, verdict, pass, fail, error, skip)`, rows)
}

// scenarioIDs returns the keys of scenarios by name, and creates missing scenarios.
func scenarioIDs(ctx context.Context, tx transaction, variant string, outcomes []outcome) (map[string]int64, error) {
	rows := make([][]any, len(outcomes))
	for i, o := range outcomes {
		rows[i] = []any{clean(o.Name), variant}
	}
	return upsert(ctx, tx, wanted{
		table: "history_scenarios", key: "name", where: " AND variant = ", argument: []any{variant}, unique: "(name, variant)",
		columns: "(name, variant)", rows: rows,
	})
}

// outcomeIDs returns the keys of outcomes by the hash of their body, and creates missing outcomes with
// their measures.
func outcomeIDs(ctx context.Context, tx transaction, outcomes []outcome) (map[string]int64, error) {
	bySum := map[string]*outcome{}
	var rows [][]any
	for i := range outcomes {
		o := &outcomes[i]
		if bySum[o.sum] == nil {
			bySum[o.sum] = o
			rows = append(rows, []any{o.sum, clean(o.Digest()), o.Settings(), number(o.RealTime), o.body})
		}
	}
	var missing []string
	ids, err := upsert(ctx, tx, wanted{
		table: "history_outcomes", key: "sha256", unique: "(sha256)", columns: "(sha256, digest, settings, real_time, body)",
		rows: rows, created: func(key string) { missing = append(missing, key) },
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(missing) // a common order of all writers avoids deadlocks
	var measures [][]any
	for _, sum := range missing {
		for i := range bySum[sum].Measures {
			measures = append(measures, measureRow(ids[sum], &bySum[sum].Measures[i]))
		}
	}
	return ids, insert(ctx, tx, `history_measures (outcome, name, unit, known, value, lo, hi, n, alike)`, measures)
}

func measureRow(outcome int64, m *compare.Measure) []any {
	row := []any{outcome, clean(m.Name), m.Unit, number(m.Known), m.Value, nil, nil, m.N, number(m.Trials == nil)}
	if m.Interval != nil {
		row[5], row[6] = m.Interval.Lo, m.Interval.Hi
	}
	return row
}

// wanted describes rows of a table whose first value is a unique text.
type wanted struct {
	table, key, columns, unique string
	where                       string // a further condition on existing rows, before its argument
	argument                    []any
	rows                        [][]any
	created                     func(key string) // may be nil
}

// upsert returns the keys of rows by their text, and inserts missing rows.
func upsert(ctx context.Context, tx transaction, w wanted) (map[string]int64, error) {
	ids := make(map[string]int64, len(w.rows))
	byKey := make(map[string][]any, len(w.rows))
	for _, row := range w.rows {
		byKey[row[0].(string)] = row
	}
	keys := slices.Sorted(maps.Keys(byKey))
	for chunk := range slices.Chunk(keys, maxParameters/2) {
		args := make([]any, len(chunk), len(chunk)+1)
		for i, key := range chunk {
			args[i] = key
		}
		statement := `SELECT id, ` + w.key + ` FROM ` + w.table + ` WHERE ` + w.key + ` IN ` + tx.tuple(1, len(chunk))
		if w.where != "" {
			statement += w.where + tx.tuple(len(chunk)+1, 1)
			args = append(args, w.argument...)
		}
		if err := scanIDs(ctx, tx, ids, statement, args); err != nil {
			return nil, err
		}
	}
	var rows [][]any
	for _, key := range keys {
		if _, ok := ids[key]; !ok {
			rows = append(rows, byKey[key])
			if w.created != nil {
				w.created(key)
			}
		}
	}
	return ids, tx.inChunks(rows, func(values string, args []any) error {
		// Another writer may have created it since. The update returns its key.
		return scanIDs(ctx, tx, ids, `INSERT INTO `+w.table+` `+w.columns+` VALUES `+values+` ON CONFLICT `+w.unique+
			` DO UPDATE SET `+w.key+` = excluded.`+w.key+` RETURNING id, `+w.key, args)
	})
}

func scanIDs(ctx context.Context, tx transaction, ids map[string]int64, statement string, args []any) error {
	rows, err := tx.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id int64
		var key string
		if err := rows.Scan(&id, &key); err != nil {
			return err
		}
		ids[key] = id
	}
	return cmp.Or(rows.Err(), rows.Close())
}

// insert inserts rows, many with one statement. It skips existing rows.
func insert(ctx context.Context, tx transaction, into string, rows [][]any) error {
	return tx.inChunks(rows, func(values string, args []any) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO `+into+` VALUES `+values+` ON CONFLICT DO NOTHING`, args...)
		return err
	})
}

// maxParameters limits the parameters of a statement. The limits of both databases are far higher.
const maxParameters = 4000

func (tx transaction) inChunks(rows [][]any, do func(values string, args []any) error) error {
	if len(rows) == 0 {
		return nil
	}
	width := len(rows[0])
	for chunk := range slices.Chunk(rows, maxParameters/width) {
		var values strings.Builder
		args := make([]any, 0, len(chunk)*width)
		for i, row := range chunk {
			if i > 0 {
				values.WriteByte(',')
			}
			values.WriteString(tx.tuple(i*width+1, width))
			args = append(args, row...)
		}
		if err := do(values.String(), args); err != nil {
			return err
		}
	}
	return nil
}

// transaction is a transaction of a store.
type transaction struct {
	*sql.Tx
	tuple func(first, n int) string // Store.tuple
}

// tuple returns n parameters from $first, such as "($1,$2)"; a statement has its parameters in the order of their
// numbers. In SQLite they have no names, such as "(?,?)", because it compares each name with all earlier ones.
func (s *Store) tuple(first, n int) string {
	if !s.postgres {
		return "(" + strings.Repeat(",?", n)[1:] + ")"
	}
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",$%d", first+i)
	}
	return "(" + b.String()[1:] + ")"
}

// clean returns text that both databases can store.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// nanoseconds returns a time as a number; 0 for an unknown time.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
