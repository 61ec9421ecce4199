// Package database opens the databases of stores: SQLite in a file or in memory, and PostgreSQL on a
// server.
package database

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Address is the address of a store.
type Address struct {
	// Postgres is true for a server; otherwise it is SQLite in the file Path, or in memory if Path
	// is empty.
	Postgres bool
	Path     string
}

// ParseAddress parses the address of a store:
//
//	sessions.db, sqlite:sessions.db   a file
//	memory:                           SQLite in memory, until it is closed
//	postgres://user@host/database     a server; also as postgresql://
//
// Errors do not contain a password.
func ParseAddress(dsn string) (Address, error) {
	switch scheme, rest, found := strings.Cut(dsn, ":"); {
	case dsn == "memory:" || dsn == ":memory:" || dsn == "sqlite::memory:":
		return Address{}, nil
	case scheme == "postgres" || scheme == "postgresql":
		return Address{Postgres: true}, nil
	case dsn == "" || found && scheme == "sqlite" && rest == "":
		return Address{}, errors.New(`the name of the store is empty: write the path of a file, "memory:" or "postgres://user@host/database"`)
	case found && scheme == "sqlite":
		return Address{Path: rest}, nil
	case found && strings.EqualFold(scheme, "file"):
		return Address{}, errors.New(`"file:" addresses are not supported: ` +
			`write the path of the file alone, without "file:" and without a query`)
	case strings.Contains(dsn, "://"):
		return Address{}, fmt.Errorf("unsupported store address %q: "+
			`write the path of a file, "memory:" or "postgres://user@host/database"`, scheme+"://")
	case strings.Contains(dsn, "host=") || strings.Contains(dsn, "dbname="):
		return Address{}, errors.New("a PostgreSQL store is written as an address: postgres://user@host/database")
	}
	return Address{Path: dsn}, nil
}

// Name returns the address of a store without its password, for logs.
func Name(dsn string) string {
	scheme, _, found := strings.Cut(dsn, "://")
	if !found {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme + "://…"
	}
	u.RawQuery = "" // may contain a password
	return u.Redacted()
}
