package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// StatusSchema names the format of Status as JSON.
const StatusSchema = "rehearse.queue/1"

// Status describes the runs and the workers of a queue.
type Status struct {
	Schema  string         `json:"schema"`
	Runs    []RunStatus    `json:"runs"`
	Workers []WorkerStatus `json:"workers"`
}

// RunStatus describes a run.
type RunStatus struct {
	// Key identifies the run for --resume and queue cancel.
	Key string `json:"key"`
	// State is running, lost (its coordinator is silent), stopped, cancelled or done.
	State string `json:"state"`
	// Trials is the number of planned trials, Done that of those with a result.
	Trials int `json:"trials"`
	Done   int `json:"done"`
	// Issued is the number of jobs that wait or run, and Running that of those that run.
	Issued  int `json:"issued"`
	Running int `json:"running"`
	// Deaths is the number of times that a worker of an unfinished job died.
	Deaths int `json:"deaths"`
	// Calls is the number of calls of live models, and SpentUSD what they cost, or can have cost.
	Calls    int     `json:"live_calls"`
	SpentUSD float64 `json:"spent_usd"`
	// Began is when the run began, by the clock of the database.
	Began time.Time `json:"began"`
	// Silent is the time since its coordinator was heard of, in seconds.
	Silent float64 `json:"silent_s"`
}

// WorkerStatus describes a worker.
type WorkerStatus struct {
	ID    string   `json:"id"`
	Host  string   `json:"host"`
	PID   int      `json:"pid"`
	Slots int      `json:"slots"`
	Tags  []string `json:"tags"`
	// Program is the digest of its binary.
	Program string `json:"program"`
	// Running is the number of jobs that it runs.
	Running int `json:"running"`
	// Silent is the time since it was heard of, in seconds.
	Silent float64 `json:"silent_s"`
}

// Status returns the runs, the newest first, and the workers that were heard of in the last minute.
func (s *Store) Status(ctx context.Context) (Status, error) {
	status := Status{Schema: StatusSchema, Runs: []RunStatus{}, Workers: []WorkerStatus{}}
	rows, err := s.pool.Query(ctx, `
		SELECT r.key,
		       CASE WHEN r.state = 'running' AND clock_timestamp() - r.beat > greatest(r.lease_ms, 1000) * interval '1 ms' THEN 'lost' ELSE r.state END,
		       r.trials, CASE r.state WHEN 'done' THEN r.merged ELSE coalesce(b.done, 0) END,
		       coalesce(b.issued, 0), coalesce(b.running, 0), coalesce(b.deaths, 0),
		       coalesce(m.calls, 0), coalesce(m.spent + m.held, 0)::float8, r.began,
		       extract(epoch FROM clock_timestamp() - r.beat)::float8
		FROM run r LEFT JOIN (
		    SELECT b.run, sum(b.last - b.first + 1) FILTER (WHERE b.done IS NOT NULL) AS done, count(*) FILTER (WHERE b.done IS NULL) AS issued,
		           count(*) FILTER (WHERE b.done IS NULL AND j.state = 'running') AS running, sum(b.deaths) AS deaths
		    FROM block b LEFT JOIN river_job j ON j.id = b.job GROUP BY b.run) b ON b.run = r.id
		LEFT JOIN meter m ON m.run = r.id
		ORDER BY r.id DESC`)
	if err == nil {
		status.Runs, err = pgx.AppendRows(status.Runs, rows, pgx.RowToStructByPos[RunStatus])
	}
	if err != nil {
		return status, fmt.Errorf("read the runs of the queue %s: %w", s.name, explain(err))
	}
	rows, err = s.pool.Query(ctx, `
		SELECT w.id, w.host, w.pid, w.slots, w.tags, w.program,
		       (SELECT count(*) FROM river_job j WHERE j.state = 'running' AND j.attempted_by[array_upper(j.attempted_by, 1)] = w.id),
		       extract(epoch FROM clock_timestamp() - w.beat)::float8
		FROM worker w WHERE w.beat > now() - interval '1 minute' ORDER BY w.began, w.id`)
	if err == nil {
		status.Workers, err = pgx.AppendRows(status.Workers, rows, pgx.RowToStructByPos[WorkerStatus])
	}
	if err != nil {
		return status, fmt.Errorf("read the workers of the queue %s: %w", s.name, explain(err))
	}
	return status, nil
}

// Cancel ends a run for good: its workers abandon their jobs, and its results are removed.
func (s *Store) Cancel(ctx context.Context, key string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		var id int64
		err := tx.QueryRow(ctx, "UPDATE run SET state = 'cancelled' WHERE key = $1 AND state IN ('running', 'stopped') RETURNING id", key).Scan(&id)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return &UsageError{fmt.Sprintf("there is no unfinished run %q; see what there is with: rehearse queue", key)}
		case err != nil:
			return err
		}
		return s.withdraw(ctx, tx, id, true)
	})
	if err != nil {
		return fmt.Errorf("cancel the run in the queue %s: %w", s.name, explain(err))
	}
	return nil
}

// Prune removes the runs that ended, or whose coordinator was last heard of, longer ago than this,
// with their results, and the workers that were silent as long. It returns the number of runs.
func (s *Store) Prune(ctx context.Context, older time.Duration) (int, error) {
	removed := 0
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT id FROM run WHERE beat < now() - $1::interval FOR UPDATE", older)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.withdraw(ctx, tx, id, true); err != nil {
				return err
			}
		}
		removed = len(ids)
		if _, err = tx.Exec(ctx, "DELETE FROM run WHERE id = ANY ($1)", ids); err == nil {
			_, err = tx.Exec(ctx, "DELETE FROM worker WHERE beat < now() - $1::interval", older)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("prune the queue %s: %w", s.name, explain(err))
	}
	return removed, nil
}
