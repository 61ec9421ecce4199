package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectTimeout limits connecting to a server whose address sets no limit.
const connectTimeout = 10 * time.Second

// ParsePostgres parses the address of a server. It omits the cause of an error, which quotes parts of
// the address.
func ParsePostgres(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("invalid address of the store %s: write postgres://user:password@host:5432/database, "+
			"with special characters of the password as %%XX", Name(dsn))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return config, nil
}

// CheckPostgres connects, and returns the version of the server. The database must be able to store
// every text.
func CheckPostgres(ctx context.Context, db *sql.DB) (version string, err error) {
	var encoding string
	err = db.QueryRowContext(ctx, `SELECT current_setting('server_version'), current_setting('server_encoding')`).
		Scan(&version, &encoding)
	switch {
	case err != nil:
		return "", err
	case encoding != "UTF8":
		return "", fmt.Errorf("the encoding of the database is %s, which cannot store every text: create one with ENCODING 'UTF8'", encoding)
	}
	version, _, _ = strings.Cut(version, " ")
	return version, nil
}

// Scratch creates an empty schema with a random name in a PostgreSQL database, and returns the
// address of a store in it. drop removes the schema; close the stores before.
func Scratch(ctx context.Context, server string) (dsn string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return "", nil, fmt.Errorf("%s is not the address of a PostgreSQL server", Name(server))
	}
	name := "rehearse_" + strings.ToLower(rand.Text())
	if err := execute(ctx, server, "CREATE SCHEMA "+name); err != nil {
		return "", nil, fmt.Errorf("create a schema in %s: %w", Name(server), err)
	}
	query := u.Query()
	query.Set("search_path", name)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // as PostgreSQL reads it
	return u.String(), func() error {
		if err := execute(context.WithoutCancel(ctx), server, "DROP SCHEMA "+name+" CASCADE"); err != nil {
			return fmt.Errorf("drop schema %s in %s: %w", name, Name(server), err)
		}
		return nil
	}, nil
}

func execute(ctx context.Context, dsn, statement string) error {
	config, err := ParsePostgres(dsn)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
}

// ReadOnly is the advice for a server that refuses to write.
const ReadOnly = "the server is read-only; name the primary server"

// advice has the error codes of PostgreSQL that have advice.
var advice = map[string]string{
	"53100": "the disk of the server is full; nothing was changed",
	"25006": ReadOnly,
	"42501": "the user may not do that; it must be able to create the tables, and their schema, or own them",
	"28P01": "the password is wrong; it may be in PGPASSWORD or in ~/.pgpass instead of the address",
	"3D000": "create the database first",
	"53300": "the server has no connection left; use fewer workers, or raise max_connections",
}

// ExplainPostgres adds advice to an error of PostgreSQL, if there is any. Other errors stay as they are.
func ExplainPostgres(err error) error {
	_, broken := errors.AsType[*net.OpError](err) // not net.Error, which errors of files implement, too
	connect, connecting := errors.AsType[*pgconn.ConnectError](err)
	failure, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && advice[failure.Code] != "":
		return fmt.Errorf("%s: %w", advice[failure.Code], oneLine(err, connect))
	case !ok && (connecting || broken):
		return fmt.Errorf("the server cannot be reached: %w", oneLine(err, connect))
	}
	return err
}

// oneLine returns err without the lines that the driver repeats: it tries each address with TLS and without.
func oneLine(err error, connect *pgconn.ConnectError) error {
	if connect == nil {
		return err
	}
	var kept []string
	for line := range strings.Lines(connect.Error()) {
		line = strings.TrimSpace(line)
		if !slices.ContainsFunc(kept, func(earlier string) bool { return strings.Contains(earlier, line) }) {
			kept = append(kept, line)
		}
	}
	short := strings.TrimSpace(kept[0] + " " + strings.Join(kept[1:], "; "))
	return &connectError{err, strings.Replace(err.Error(), connect.Error(), short, 1)}
}

// connectError is an error with a shorter text.
type connectError struct {
	error
	text string
}

// Error implements error.
func (e *connectError) Error() string { return e.text }

// Unwrap returns the error with all lines.
func (e *connectError) Unwrap() error { return e.error }
