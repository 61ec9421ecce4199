package store

import "database/sql"

// DB returns the database behind a store.
func DB(s *Store) *sql.DB { return s.db }

// Writing reports whether commits to a file are being written, and none waits.
func Writing(s *Store) bool {
	g := &s.engine.(*sqliteEngine).group
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.writer) > 0 && len(g.waiting) == 0
}
