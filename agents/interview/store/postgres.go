package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// The limits of a server's connections.
const (
	maxConnections = 16
	idleTime       = 5 * time.Minute
	lifeTime       = time.Hour // resolve the address of the database again
)

type postgresEngine struct {
	db *sql.DB
	// claimed is the claim that writes require, or nil.
	claimed atomic.Pointer[pgClaim]
}

func openPostgres(ctx context.Context, dsn string) (*Store, error) {
	config, err := database.ParsePostgres(dsn)
	if err != nil {
		return nil, err
	}
	s, err := connectPostgres(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", Name(dsn), err)
	}
	return s, nil
}

func connectPostgres(ctx context.Context, config *pgx.ConnConfig) (s *Store, err error) {
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(durable))
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	db.SetMaxOpenConns(maxConnections)
	db.SetMaxIdleConns(maxConnections)
	db.SetConnMaxIdleTime(idleTime)
	db.SetConnMaxLifetime(lifeTime)
	version, err := database.CheckPostgres(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, db, true); err != nil {
		return nil, err
	}
	return &Store{db: db, engine: &postgresEngine{db: db}, driver: "PostgreSQL " + version}, nil
}

// durable makes commits synchronous, even if the server or the role turns that off.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false)
		WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

func (e *postgresEngine) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return e.db.QueryContext(ctx, statement, args...)
}

// apply takes two round trips for any number of operations: one with the deciding operations, which come first and
// lock the row of the session, and one for the rest. A claimed store checks its claim before.
func (e *postgresEngine) apply(ctx context.Context, ops []operation) error {
	if claim := e.claimed.Load(); claim != nil {
		if err := claim.ensure(ctx); err != nil {
			return err
		}
	}
	conn, err := e.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(driver any) error {
		c := driver.(*stdlib.Conn).Conn()
		err := transact(ctx, c, ops)
		// The pool discards a connection that is still in a transaction.
		if err != nil && c.PgConn().TxStatus() != 'I' {
			if _, failed := c.Exec(ctx, "rollback"); failed != nil {
				_ = c.Close(ctx) // the pool opens another
			}
		}
		return err
	})
}

func transact(ctx context.Context, c *pgx.Conn, ops []operation) error {
	begin := operation{statement: "begin"}
	deciding := 0
	for deciding < len(ops) && ops[deciding].decides {
		deciding++
	}
	if deciding > 0 {
		if err := send(ctx, c, append([]operation{begin}, ops[:deciding]...)...); err != nil {
			return err
		}
		return send(ctx, c, append(ops[deciding:len(ops):len(ops)], operation{statement: "commit"})...)
	}
	return send(ctx, c, ops...) // a batch without begin is one transaction
}

// send carries out operations in one round trip, after their statements have been prepared.
func send(ctx context.Context, c *pgx.Conn, ops ...operation) (err error) {
	batch := &pgx.Batch{}
	for _, op := range ops {
		batch.Queue(op.statement, op.args...)
	}
	results := c.SendBatch(ctx, batch)
	defer func() {
		if failed := results.Close(); err == nil {
			err = failed
		}
	}()
	for _, op := range ops {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		if op.decides && tag.RowsAffected() == 0 {
			return errStale
		}
	}
	return nil
}

// duplicate also returns true for serialization failures and deadlocks with another writer.
func (e *postgresEngine) duplicate(err error) bool {
	const uniqueViolation, serializationFailure, deadlock = "23505", "40001", "40P01"
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		return false
	}
	return failure.Code == uniqueViolation || failure.Code == serializationFailure || failure.Code == deadlock
}

func (e *postgresEngine) explain(err error) error { return err }

func (e *postgresEngine) close() error { return nil }
