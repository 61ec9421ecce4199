package store

import "database/sql"

// DB is the database behind a store.
func DB(s *Store) *sql.DB { return s.db }
