// Package cli implements the interview commands: it conducts interviews in a terminal, and finds and
// prints stored ones.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// StoreError is the error of a store that cannot be read or closed.
type StoreError struct{ error }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.error }

// Open opens an existing store for reading.
func Open(ctx context.Context, name string) (*store.Store, error) {
	if file, ok := storeFile(name); ok {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("store %s not found; name another one with --store, or create it with rehearse interview serve", file)
		}
	}
	st, err := store.Open(ctx, name)
	if err != nil {
		return nil, &StoreError{err}
	}
	return st, nil
}

// storeFile returns the file of a SQLite store.
func storeFile(name string) (file string, ok bool) {
	file = strings.TrimPrefix(name, "sqlite:")
	return file, file != "memory:" && file != ":memory:" && !strings.Contains(file, "://")
}

// Claim opens a store and claims an instance name in it.
func Claim(ctx context.Context, name, instance string) (st *store.Store, release func() error, err error) {
	st, err = store.Open(ctx, name)
	if err != nil {
		return nil, nil, &StoreError{err}
	}
	free, err := st.Claim(ctx, instance)
	if err != nil {
		return nil, nil, &StoreError{errors.Join(fmt.Errorf("%w (--instance)", err), st.Close())}
	}
	return st, func() error {
		if err := errors.Join(free(), st.Close()); err != nil {
			return &StoreError{fmt.Errorf("close the store: %w", err)}
		}
		return nil
	}, nil
}

// maxKnown is the maximum number of sessions to search.
const maxKnown = 1000

// Find returns the session with the id word, with an id that starts with word, or of the candidate
// word. If the candidate has several sessions, Find returns the newest if latest is true, and fails
// otherwise: anybody may begin a session with the id of another candidate.
func Find(ctx context.Context, st session.Store, word string, latest bool) (found session.Session, err error) {
	if strings.TrimSpace(word) == "" {
		return found, errors.New("the name of the session or candidate is empty; list them with rehearse interview sessions")
	}
	found, err = st.Load(ctx, word)
	if err == nil || !errors.Is(err, session.ErrNotFound) {
		return found, searchError(err)
	}
	of, err := st.List(ctx, session.Listing{Candidate: word, Limit: maxKnown})
	// Nobody else can begin a session with an invitation for the candidate.
	if invited := slices.DeleteFunc(slices.Clone(of), func(s session.Session) bool { return !s.Invited }); len(invited) > 0 {
		of = invited
	}
	switch {
	case err != nil:
		return found, searchError(err)
	case len(of) == 1, len(of) > 1 && latest:
		return of[0], nil
	case len(of) > 1:
		return found, errors.New(severalSessions(word, of))
	}
	all, err := st.List(ctx, session.Listing{Limit: maxKnown})
	if err != nil {
		return found, searchError(err)
	}
	if i, ok := startsWith(all, word); ok {
		return all[i], nil
	}
	return found, unknownSession(word, all)
}

func searchError(err error) error {
	if err == nil {
		return nil
	}
	return &StoreError{fmt.Errorf("look for the session: %w", err)}
}

// maxListed is the maximum number of sessions that an error lists.
const maxListed = 10

// severalSessions lists the sessions of a candidate, newest first.
func severalSessions(candidate string, of []session.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d sessions; name one by the start of its id, or use --latest for the newest:",
		sanitize.Line(candidate, 64), len(of))
	for _, s := range of[:min(len(of), maxListed)] {
		fmt.Fprintf(&b, "\n  %s  began %s, %s %s, %s", sanitize.Line(s.ID, shownID), s.Created.UTC().Format("2006-01-02 15:04"),
			shortStep(s.Step), s.Phase, format.Plural(s.Messages, "message"))
	}
	if len(of) > maxListed {
		fmt.Fprintf(&b, "\n  and %d more: rehearse interview sessions --candidate %s", len(of)-maxListed, sanitize.Line(candidate, 64))
	}
	return b.String()
}

// minPrefix is the minimum length of the start of an id.
const minPrefix = 4

// startsWith returns the index of the only session whose id begins with a word.
func startsWith(all []session.Session, word string) (int, bool) {
	if len(word) < minPrefix {
		return 0, false
	}
	begins := func(s session.Session) bool { return strings.HasPrefix(s.ID, word) }
	first := slices.IndexFunc(all, begins)
	return first, first >= 0 && !slices.ContainsFunc(all[first+1:], begins)
}

// unknownSession returns the error for an unknown session, with a suggestion.
func unknownSession(word string, all []session.Session) error {
	if len(all) == 0 {
		return fmt.Errorf("session %.80q not found: the store is empty", word)
	}
	names := candidates(all)
	for _, s := range all {
		names = append(names, s.ID)
	}
	if nearest := suggest.Nearest(word, names); nearest != "" {
		return fmt.Errorf("session or candidate %.80q not found (did you mean %q?)", word, nearest)
	}
	return fmt.Errorf("session or candidate %.80q not found; the newest session is that of %q (see rehearse interview sessions)",
		word, all[0].Candidate)
}

// candidates returns the distinct candidates of sessions.
func candidates(all []session.Session) []string {
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.Candidate) {
			names = append(names, s.Candidate)
		}
	}
	return names
}

// Candidates returns the candidates of a store, sorted.
func Candidates(ctx context.Context, st session.Store) ([]string, error) {
	all, err := st.List(ctx, session.Listing{Limit: maxKnown})
	names := candidates(all)
	slices.Sort(names)
	return names, err
}
