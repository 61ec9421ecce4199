package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// Live limits the calls of live models in a run, over all workers. Zero values do not limit.
type Live struct {
	// Calls limits the number of calls.
	Calls int
	// Cost limits the cost, and CostUSD is the same in USD.
	Cost    quantity.Money
	CostUSD float64
	// MaxOutput limits the output of a call without a limit of its own, in tokens.
	MaxOutput int
	// Gap is the least time between two requests to a provider.
	Gap time.Duration
}

// store stores the limits of a run. Those of a resumed run replace the earlier ones.
func (l *Live) store(ctx context.Context, tx pgx.Tx, run int64) error {
	if l == nil {
		return nil
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO meter (run, cap_calls, cap_usd, max_output, gap_ms) VALUES ($1, $2, $3::float8, $4, $5)
		ON CONFLICT (run) DO UPDATE SET cap_calls = excluded.cap_calls, cap_usd = excluded.cap_usd,
		    max_output = excluded.max_output, gap_ms = excluded.gap_ms, refused = NULL`,
		run, l.Calls, l.CostUSD, l.MaxOutput, inMilliseconds(l.Gap))
	return err
}

func inMilliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// capError ends a run because a call was refused.
type capError struct{ reason string }

// Error implements error.
func (e *capError) Error() string { return e.reason }

// checkCaps returns a *capError if a worker was refused a call.
func (c *Coordinator) checkCaps(ctx context.Context) error {
	if c.opts.Live == nil {
		return nil
	}
	var refused, model string
	var calls int
	var spent, next float64
	err := c.store.pool.QueryRow(ctx, `
		SELECT refused, coalesce(refused_for, ''), calls, spent::float8, coalesce(refused_usd, 0)::float8
		FROM meter WHERE run = $1 AND refused IS NOT NULL`, c.id).Scan(&refused, &model, &calls, &spent, &next)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	limits := c.opts.Live
	switch refused {
	case "calls":
		return &capError{fmt.Sprintf("the budget of %s is used up by live calls", format.Plural(limits.Calls, "call"))}
	case "price":
		return &capError{fmt.Sprintf("a budget of %s is given, and the price of %q is unknown", limits.Cost, model)}
	}
	return &capError{fmt.Sprintf("the budget of %s is used up: %s cost %.6g USD, and the next one can cost %.6g USD",
		limits.Cost, format.Plural(calls, "live call"), spent, next)}
}

// spendHolds counts the holds of a run as spent: all of them, or those of workers that were not heard of
// since a time. Their calls may have been paid.
func spendHolds(ctx context.Context, tx pgx.Tx, run int64, silentSince *time.Time) error {
	_, err := tx.Exec(ctx, `
		WITH gone AS (
		    DELETE FROM hold h WHERE run = $1
		    AND ($2::timestamptz IS NULL OR NOT EXISTS (SELECT FROM worker w WHERE w.id = h.worker AND w.beat > $2))
		    RETURNING amount)
		UPDATE meter SET held = held - s.amount, spent = spent + s.amount FROM (SELECT sum(amount) AS amount FROM gone) s
		WHERE run = $1 AND s.amount IS NOT NULL`, run, silentSince)
	return err
}

// spendLost counts the holds of workers as spent whose lease has ended.
func (c *Coordinator) spendLost(ctx context.Context, tx pgx.Tx, now time.Time) error {
	if c.opts.Live == nil || !expired(now, c.watch.since, time.Time{}, c.opts.Lease) {
		return nil
	}
	silent := now.Add(-c.opts.Lease)
	return spendHolds(ctx, tx, c.id, &silent)
}

// meter is the drive.LiveMeter of a job. All meters of a run share its row in the database.
type meter struct {
	pool   *pgxpool.Pool
	clock  clock.Clock
	run    int64
	worker string
	// until ends when the worker leaves the run.
	until     context.Context //nolint:containedctx // a call is settled after its own context has ended
	maxOutput int
	// stop ends the job, whose trial is not judged.
	stop context.CancelCauseFunc
}

var _ drive.LiveMeter = (*meter)(nil)

// How long a meter waits before it tries again, and without the database.
const (
	holdTime      = 20 * time.Millisecond
	meterPatience = time.Minute
)

// MaxOutput implements drive.LiveMeter.
func (m *meter) MaxOutput() int { return m.maxOutput }

// Reserve implements drive.Meter. It holds the most that the call can cost, and waits while only the holds
// of other calls are in the way. The harness counts calls of scripted backends after their trials.
func (m *meter) Reserve(ctx context.Context, call drive.Call) (drive.Settle, error) {
	if !call.Live {
		return func(llm.Reply, error) {}, nil
	}
	id := rand.Text()
	for {
		granted, err := m.hold(ctx, id, &call)
		if err == nil && !granted {
			err = m.refuse(ctx, &call)
		}
		if err == nil && !granted {
			err = m.clock.Sleep(ctx, holdTime)
		}
		if err != nil {
			m.settle(id, 0) // the database may have granted it, and the answer was lost
			return nil, m.failed(ctx, err)
		}
		if granted {
			return func(reply llm.Reply, err error) { m.settle(id, call.CostUSD(reply, err)) }, nil
		}
	}
}

// failed ends the job, unless only the call has ended.
func (m *meter) failed(ctx context.Context, err error) error {
	if cause := clock.Err(ctx); cause != nil {
		return cause
	}
	m.stop(err)
	return err
}

// hold reports whether the caps allow another call.
func (m *meter) hold(ctx context.Context, id string, call *drive.Call) (granted bool, err error) {
	err = persist(ctx, m.clock, meterPatience, func() error {
		tag, err := m.pool.Exec(ctx, `
			WITH granted AS (
			    UPDATE meter SET calls = calls + 1, held = held + $3::float8::numeric
			    WHERE run = $1 AND (cap_calls = 0 OR calls < cap_calls)
			    AND (cap_usd = 0 OR $5 = '' AND spent + held + $3::float8::numeric <= cap_usd)
			    AND NOT EXISTS (SELECT FROM hold WHERE id = $4)
			    RETURNING run)
			INSERT INTO hold (id, run, worker, amount) SELECT $4, run, $2, $3::float8::numeric FROM granted`,
			m.run, m.worker, call.MostUSD, id, call.Unpriced)
		granted = tag.RowsAffected() > 0
		if err != nil || granted {
			return err
		}
		return m.pool.QueryRow(ctx, "SELECT EXISTS (SELECT FROM hold WHERE id = $1)", id).Scan(&granted) // by an attempt without an answer
	})
	return granted, err
}

// errRefused ends a job. The coordinator ends the run.
var errRefused = errors.New("the budget of the run allows no further call")

// refuse returns errRefused, and stores the reason, if a call will not be allowed when others have ended.
func (m *meter) refuse(ctx context.Context, call *drive.Call) error {
	refused := false
	err := persist(ctx, m.clock, meterPatience, func() error {
		tag, err := m.pool.Exec(ctx, `
			UPDATE meter SET refused_for = $3, refused_usd = $2::float8::numeric, refused =
			    CASE WHEN cap_calls > 0 AND calls >= cap_calls THEN 'calls' WHEN cap_usd > 0 AND $3 <> '' THEN 'price' ELSE 'cost' END
			WHERE run = $1 AND (cap_calls > 0 AND calls >= cap_calls
			    OR cap_usd > 0 AND ($3 <> '' OR held = 0 AND spent + $2::float8::numeric > cap_usd))`,
			m.run, call.MostUSD, call.Unpriced)
		refused = tag.RowsAffected() > 0
		return err
	})
	if err == nil && refused {
		return errRefused
	}
	return err
}

// settle replaces a hold, if there still is one, by the cost of the call.
func (m *meter) settle(id string, usd float64) {
	_ = persist(m.until, m.clock, 24*time.Hour, func() error { // a hold that remains is counted as spent in the end
		_, err := m.pool.Exec(m.until, `
			WITH gone AS (DELETE FROM hold WHERE id = $1 RETURNING run, amount)
			UPDATE meter SET held = held - gone.amount, spent = spent + $2::float8::numeric FROM gone WHERE meter.run = gone.run`, id, usd)
		return err
	})
}

// Pacer implements drive.LiveMeter.
func (m *meter) Pacer(host string) openai.Pacer { return pacer{m, host} }

// pacer is the pacer of a provider, which all runs of the queue share. It uses the clock of the database.
type pacer struct {
	*meter
	provider string
}

// Wait implements openai.Pacer. It takes the next free time, and a later one if all were delayed meanwhile.
func (p pacer) Wait(ctx context.Context) error {
	for {
		wait, err := p.take(ctx)
		if err == nil && wait <= 0 {
			return nil
		}
		var delayed bool
		if err == nil {
			err = p.clock.Sleep(ctx, wait)
		}
		if err == nil {
			delayed, err = p.delayed(ctx)
		}
		if err != nil {
			return p.failed(ctx, err)
		}
		if !delayed {
			return nil
		}
	}
}

// take takes the next free time, and returns how far away it is.
func (p pacer) take(ctx context.Context) (time.Duration, error) {
	var wait float64
	err := persist(ctx, p.clock, meterPatience, func() error {
		_, err := p.pool.Exec(ctx, "INSERT INTO pace (provider) VALUES ($1) ON CONFLICT DO NOTHING", p.provider)
		if err != nil {
			return err
		}
		return p.pool.QueryRow(ctx, `
			UPDATE pace p SET next = greatest(p.next, p.not_before, clock_timestamp()) + m.gap_ms * interval '1 ms'
			FROM meter m WHERE p.provider = $1 AND m.run = $2
			RETURNING 1000 * extract(epoch FROM p.next - m.gap_ms * interval '1 ms' - clock_timestamp())::float8`, p.provider, p.run).Scan(&wait)
	})
	return milliseconds(wait), err
}

// delayed reports whether the provider must not be called yet.
func (p pacer) delayed(ctx context.Context) (delayed bool, err error) {
	err = persist(ctx, p.clock, meterPatience, func() error {
		return p.pool.QueryRow(ctx, "SELECT not_before > clock_timestamp() FROM pace WHERE provider = $1", p.provider).Scan(&delayed)
	})
	return delayed, err
}

// Pause implements openai.Pacer.
func (p pacer) Pause(ctx context.Context, d time.Duration) error {
	err := persist(ctx, p.clock, meterPatience, func() error {
		_, err := p.pool.Exec(ctx, "UPDATE pace SET not_before = greatest(not_before, clock_timestamp() + $2 * interval '1 ms') WHERE provider = $1",
			p.provider, inMilliseconds(d))
		return err
	})
	if err != nil {
		return p.failed(ctx, err)
	}
	return nil
}
