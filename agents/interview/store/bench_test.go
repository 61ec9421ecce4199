package store_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/llm"
)

func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		s, err := store.Open(b.Context(), "memory:")
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, dsn := range []string{"memory:", filepath.Join(b.TempDir(), "x.db")} {
		b.Run(dsn[:3], func(b *testing.B) {
			s, err := store.Open(b.Context(), dsn)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			n := session.Session{ID: "0123456789abcdef0123456789abcdef", Candidate: "lea", Language: "fr", Step: session.Block1, Phase: session.Asking, Created: time.Now()}
			if err := s.Create(b.Context(), n, session.Change{}); err != nil {
				b.Fatal(err)
			}
			n.Version = 1
			i := 0
			text := strings.Repeat("some words of an answer ", 20)
			for b.Loop() {
				i++
				n.Messages, n.Calls = i, i
				n.Version, err = s.Commit(b.Context(), n, session.Change{
					Submission: time.Duration(i).String(),
					Messages:   []session.Message{{Seq: i, Role: llm.User, Kind: session.KindQuestion, Step: session.Block1, Text: text, At: n.Created}},
					Answers:    []session.Answer{{Step: session.Block1, Index: i, Text: text, At: n.Created, Message: i}},
					Queue:      &session.Queue{Step: session.Block1, Questions: []string{text, text, text}, Cursor: i},
					Calls:      []session.Call{{N: i, Purpose: session.PurposeMirror, Step: session.Block1, At: n.Created}},
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	s, err := store.Open(b.Context(), "memory:")
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	n := session.Session{ID: "0123456789abcdef0123456789abcdef", Candidate: "lea", Language: "fr", Step: session.Block1, Phase: session.Asking, Created: time.Now()}
	if err := s.Create(b.Context(), n, session.Change{Queue: &session.Queue{Step: session.Block1, Questions: []string{"a", "b", "c"}}}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Load(b.Context(), n.ID); err != nil {
			b.Fatal(err)
		}
	}
}
