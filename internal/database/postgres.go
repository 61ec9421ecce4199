package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
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
