package store

import "database/sql"

// DB returns the database behind a history.
func DB(s *Store) *sql.DB { return s.db }
