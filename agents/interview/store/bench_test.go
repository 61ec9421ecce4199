package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/llm"
)

// backends returns the stores to measure. PostgreSQL is among them where
// REHEARSE_TEST_POSTGRES names a server.
func backends(b *testing.B) map[string]string {
	b.Helper()
	found := map[string]string{"memory": "memory:", "file": filepath.Join(b.TempDir(), "sessions.db")}
	if server := os.Getenv("REHEARSE_TEST_POSTGRES"); server != "" {
		dsn, drop, err := database.Scratch(b.Context(), server)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = drop() })
		found["postgres"] = dsn
	}
	return found
}

func eachBackend(b *testing.B, measure func(b *testing.B, s *store.Store)) {
	for _, name := range []string{"memory", "file", "postgres"} {
		b.Run(name, func(b *testing.B) {
			dsn, ok := backends(b)[name]
			if !ok {
				b.Skip("REHEARSE_TEST_POSTGRES names no server")
			}
			s, err := store.Open(b.Context(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = s.Close() })
			measure(b, s)
		})
	}
}

// BenchmarkOpen is a new store until it can be used.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		s, err := store.Open(b.Context(), "memory:")
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit measures storing an answer: the submission, its message, the
// answer, the queue and a call. BenchmarkCommitFloor stores the same bytes as one
// row in one transaction.
func BenchmarkCommit(b *testing.B) {
	eachBackend(b, func(b *testing.B, s *store.Store) {
		n := created(b, s, "one")
		for i := 1; b.Loop(); i++ {
			n = answered(b, s, n, i)
		}
	})
}

func BenchmarkCommitFloor(b *testing.B) {
	eachBackend(b, func(b *testing.B, s *store.Store) {
		db := store.DB(s)
		execute(b, db, `CREATE TABLE floor (n bigint PRIMARY KEY, body text NOT NULL)`)
		insert, err := db.Prepare(`INSERT INTO floor VALUES ($1, $2)`)
		if err != nil {
			b.Fatal(err)
		}
		body := strings.Repeat("x", 4*len(answer)+1500)
		for i := 1; b.Loop(); i++ {
			tx, err := db.BeginTx(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := tx.Stmt(insert).Exec(i, body); err != nil {
				b.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkCommitTogether is a commit while 99 other sessions commit too.
func BenchmarkCommitTogether(b *testing.B) {
	eachBackend(b, func(b *testing.B, s *store.Store) {
		var sessions atomic.Int32
		b.SetParallelism(50)
		b.RunParallel(func(loop *testing.PB) {
			n := created(b, s, fmt.Sprint("session", sessions.Add(1)))
			for i := 1; loop.Next(); i++ {
				n = answered(b, s, n, i)
			}
		})
	})
}

// BenchmarkLoad is the head of a session and its queue, with a short and a long
// history. BenchmarkLoadFloor reads one row of its size.
func BenchmarkLoad(b *testing.B) {
	for _, history := range []int{1, 1000} {
		b.Run(fmt.Sprint("history=", history), func(b *testing.B) {
			eachBackend(b, func(b *testing.B, s *store.Store) {
				n := created(b, s, "one")
				for i := 1; i <= history; i++ {
					n = answered(b, s, n, i)
				}
				for b.Loop() {
					if _, err := s.Load(b.Context(), n.ID); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func BenchmarkLoadFloor(b *testing.B) {
	eachBackend(b, func(b *testing.B, s *store.Store) {
		db := store.DB(s)
		execute(b, db, `CREATE TABLE floor (n bigint PRIMARY KEY, body text NOT NULL)`)
		execute(b, db, `INSERT INTO floor VALUES (1, '`+strings.Repeat("x", 3*len(answer)+800)+`')`)
		read, err := db.Prepare(`SELECT body FROM floor WHERE n = $1`)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			var body string
			if err := read.QueryRowContext(b.Context(), 1).Scan(&body); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMessages is the whole conversation of a long interview.
func BenchmarkMessages(b *testing.B) {
	eachBackend(b, func(b *testing.B, s *store.Store) {
		n := created(b, s, "one")
		const messages = 200
		for i := 1; i <= messages; i++ {
			n = answered(b, s, n, i)
		}
		b.SetBytes(int64(messages * len(answer)))
		for b.Loop() {
			if found, err := s.Messages(b.Context(), n.ID); err != nil || len(found) != messages {
				b.Fatal(len(found), err)
			}
		}
	})
}

// answer is of the length of a good one.
var answer = strings.Repeat("some words of an answer ", 20)

func created(b *testing.B, s *store.Store, id string) session.Session {
	n := session.Session{
		ID: "0123456789abcdef0123456789abcdef" + id, Candidate: "lea", Language: session.French,
		Step: session.Block1, Phase: session.Asking, Created: time.Unix(0, 0), Version: 1,
	}
	if err := s.Create(context.Background(), n, session.Change{}); err != nil {
		b.Error(err)
	}
	return n
}

func answered(b *testing.B, s *store.Store, n session.Session, i int) session.Session {
	n.Messages, n.Calls = i, i
	version, err := s.Commit(context.Background(), n, session.Change{
		Submission: fmt.Sprint("submission ", i),
		Messages:   []session.Message{{Seq: i, Role: llm.User, Kind: session.KindQuestion, Step: n.Step, Text: answer, At: n.Created}},
		Answers:    []session.Answer{{Step: n.Step, Index: i, Text: answer, At: n.Created, Message: i}},
		Queue:      &session.Queue{Step: n.Step, Questions: []string{answer, answer}, Cursor: i},
		Calls:      []session.Call{{N: i, Purpose: session.PurposeMirror, Step: n.Step, At: n.Created}},
	})
	if err != nil {
		b.Error(err)
	}
	n.Version = version
	return n
}

func execute(b *testing.B, db *sql.DB, statement string) {
	b.Helper()
	if _, err := db.Exec(statement); err != nil {
		b.Fatal(err)
	}
}
