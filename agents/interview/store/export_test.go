package store

import "database/sql"

// DB is the database behind a store.
func DB(s *Store) *sql.DB { return s.db }

// Waiting is how many commits to a file wait for the one that is being written,
// if one is.
func Waiting(s *Store) (commits int, writing bool) {
	g := &s.engine.(*sqliteEngine).group
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.waiting), len(g.writer) > 0
}

// Hold keeps commits to a file waiting until release is called.
func Hold(s *Store) (release func()) {
	g := &s.engine.(*sqliteEngine).group
	g.writer <- struct{}{}
	return func() { <-g.writer }
}
