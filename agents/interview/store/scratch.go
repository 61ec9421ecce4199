package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

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
	config, err := parsePostgres(dsn)
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
