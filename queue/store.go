// Package queue spreads a run over machines: a coordinator inserts jobs into PostgreSQL, workers run
// their trials, and the coordinator receives the trials in the order of the plan, so that the
// recording equals that of one machine. River (riverqueue.com) claims and retries the jobs; a lease
// of our own notices dead workers.
package queue

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

//go:embed migrations/*.sql
var migrations embed.FS

// defaultSchema is the schema of the tables, unless the address has a search_path.
const defaultSchema = "rehearse"

// migrationLock is the advisory lock of processes that create tables.
const migrationLock = 0x72656871 // "rehq"

// Store is a queue in a PostgreSQL database.
type Store struct {
	pool   *pgxpool.Pool
	schema string
	name   string // of the database, without a password
	logger *slog.Logger
}

var schemaName = lazyregexp.New(`^[a-z_][a-z0-9_]{0,40}$`)

// Open connects to the database of an address (postgres://user@host/database), and creates or updates
// the tables of the queue in a schema of their own: "rehearse", or the search_path of the address.
// connections is the largest number of connections. Errors never contain the password.
func Open(ctx context.Context, address string, connections int) (*Store, error) {
	parsed, err := database.ParseAddress(address)
	if err == nil && !parsed.Postgres {
		err = errors.New("the queue needs PostgreSQL: write postgres://user@host/database")
	}
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	single, err := database.ParsePostgres(address)
	if err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("open the queue %s: its settings of the pool are invalid", database.Name(address)) // err quotes the address
	}
	s := &Store{
		name: database.Name(address), schema: cmp.Or(config.ConnConfig.RuntimeParams["search_path"], defaultSchema),
		logger: slog.New(slog.NewTextHandler(io.Discard, nil)), // errors are returned; River would repeat them
	}
	if !schemaName().MatchString(s.schema) {
		return nil, fmt.Errorf("open the queue %s: the search_path must be one name of lower-case letters, digits and _", s.name)
	}
	config.ConnConfig.ConnectTimeout = single.ConnectTimeout
	config.ConnConfig.RuntimeParams["search_path"] = s.schema
	config.ConnConfig.RuntimeParams["application_name"] = "rehearse"
	config.MaxConns = int32(min(max(connections, 4), 1000))
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err == nil {
		err = s.migrate(ctx)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open the queue %s: %w", s.name, explain(err))
	}
	return s, nil
}

// Close closes the connections.
func (s *Store) Close() {
	if s.pool != nil {
		s.pool.Close()
	}
}

// migrate creates or updates the tables, one process at a time.
func (s *Store) migrate(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		return err
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", migrationLock) }()
	var exists, readOnly bool
	err = conn.QueryRow(ctx,
		"SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1), current_setting('transaction_read_only') = 'on'", s.schema).
		Scan(&exists, &readOnly)
	switch {
	case err != nil:
		return err
	case readOnly:
		return errors.New(database.ReadOnly)
	}
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return fmt.Errorf("create the schema %s: %w", s.schema, err)
		}
	}
	db := stdlib.OpenDBFromPool(s.pool)
	defer func() { _ = db.Close() }() // the pool stays open
	if _, err := database.CheckPostgres(ctx, db); err != nil {
		return err
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := database.Migrate(ctx, db, true, files, "queue_schema"); err != nil {
		return err
	}
	return s.migrateRiver(ctx)
}

// migrateRiver creates or updates River's tables.
func (s *Store) migrateRiver(ctx context.Context) error {
	m, err := rivermigrate.New(riverpgxv5.New(s.pool), &rivermigrate.Config{Logger: s.logger, Schema: s.schema})
	if err != nil {
		return err
	}
	applied, err := m.ExistingVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of River's tables, which a newer version of this program may have written: %w", err)
	}
	if len(applied) == len(m.AllVersions()) {
		return nil
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("create River's tables: %w", err)
	}
	return nil
}

// explain adds advice to an error of PostgreSQL, if there is any.
func explain(err error) error { return database.ExplainPostgres(err) }
