package store

import "database/sql"

// DB returns the database behind a store.
func DB(s *Store) *sql.DB { return s.db }

// Writing reports whether a commit to a file is being written.
func Writing(s *Store) bool { return len(s.engine.(*sqliteEngine).writer) > 0 }
