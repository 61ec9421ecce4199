package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// pgClaim is an exclusive claim on an instance name: an advisory lock of one connection, which ends
// with the connection. It is checked before each write. If the connection was lost, the lock is
// taken again, unless another process has taken it.
type pgClaim struct {
	db   *sql.DB
	name string

	mu   sync.Mutex
	conn *sql.Conn // nil if the connection was lost
}

// take opens a connection and takes the lock.
func (c *pgClaim) take(ctx context.Context) error {
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return err
	}
	var got bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock(
		hashtextextended('rehearse interview ' || current_schema() || ' ' || $1::text, 0))`, c.name).Scan(&got)
	if err == nil && !got {
		err = claimedError(c.name)
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	c.conn = conn
	return nil
}

// ensure checks the claim, and takes it again if its connection was lost.
func (c *pgClaim) ensure(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		if err := c.conn.PingContext(ctx); err == nil || ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_ = c.conn.Close() // it is broken
		c.conn = nil
	}
	if err := c.take(ctx); err != nil {
		return fmt.Errorf("claim the store again after the connection was lost: %w", err)
	}
	return nil
}

func (c *pgClaim) release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	conn := c.conn
	c.conn = nil
	if err := conn.PingContext(context.Background()); err != nil {
		_ = conn.Close()
		return nil
	}
	_, err := conn.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`)
	return errors.Join(err, conn.Close())
}

// claim takes the claim, which all further writes of this store require.
func (e *postgresEngine) claim(ctx context.Context, name string) (release func() error, err error) {
	c := &pgClaim{db: e.db, name: name}
	if err := c.take(ctx); err != nil {
		return nil, err
	}
	e.claimed.Store(c)
	return func() error {
		e.claimed.CompareAndSwap(c, nil)
		return c.release()
	}, nil
}
