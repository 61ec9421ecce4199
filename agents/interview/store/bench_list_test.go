package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// The size of a large store: 100,000 sessions with 24 calls, of 90 days.
const (
	storedSessions = 100_000
	storedCalls    = 24
	storedDays     = 90
)

// fillStore stores many sessions, of which 2 in 1,000 are stuck.
func fillStore(b *testing.B, s *store.Store) {
	const numbers = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `
	const day = int64(24 * time.Hour)
	db := store.DB(s)
	asJSON := ""
	if strings.HasPrefix(s.Driver(), "PostgreSQL") {
		asJSON = "::json"
	}
	execute(b, db, `INSERT INTO interview_sessions (id, candidate, created_ns, version, step, body, status, since_ns, cost_ue) `+
		fmt.Sprintf(numbers, storedSessions-1)+fmt.Sprintf(`SELECT 's' || i, 'c' || (i %% 20000), i * %[1]d, 1, 'STEP_01_IDENTITY',
		('{"id":"s' || i || '","candidate":"c' || (i %% 20000) || '","version":1,"step":"STEP_01_IDENTITY","phase":"asking","works":["`+answer+`"]}')%[2]s,
		CASE WHEN i %% 1000 < 2 THEN 'stuck' WHEN i %% 1000 < 50 THEN 'owing' WHEN i %% 5 = 0 THEN 'open' ELSE 'finished' END,
		i * %[1]d + 3600000000000, (i * 7919) %% 120000 FROM n`, int64(storedDays)*day/storedSessions, asJSON))
	execute(b, db, `INSERT INTO interview_calls (session, n, body, day, currency, cost) `+
		fmt.Sprintf(numbers, storedSessions*storedCalls-1)+fmt.Sprintf(
		`SELECT 's' || (i / %d), i %% %[1]d, '{"n":1}', '2026-' || (10 + i / %d) || '-' || (10 + i / %d %% 30), 'EUR', 0.0035 FROM n`,
		storedCalls, storedSessions*storedCalls/3+1, storedSessions*storedCalls/storedDays+1))
	execute(b, db, `ANALYZE`)
	if asJSON != "" {
		execute(b, db, `VACUUM`)
	}
}

// BenchmarkList measures what the list of sessions shows, and a scrape of the metrics.
func BenchmarkList(b *testing.B) {
	least, most := 0.1, 0.11
	begun := time.Unix(0, 0)
	listings := map[string]session.Listing{
		"newest":            {},
		"candidate":         {Candidate: "c17"},
		"stuck":             {Status: session.StatusStuck, Sort: session.Longest},
		"finished-dearest":  {Status: session.StatusFinished, Sort: session.Dearest},
		"cost-range-newest": {MinCost: &least, MaxCost: &most},
		"stuck-one-day":     {Status: session.StatusStuck, From: begun.AddDate(0, 0, 50), Before: begun.AddDate(0, 0, 51)},
		"dearest":           {Sort: session.Dearest},
		"latest-page-900":   {Sort: session.Latest, After: fmt.Sprint(int64(storedDays)*int64(24*time.Hour)/10, ".s10000")},
		"nothing":           {Status: session.StatusLimited},
	}
	eachBackend(b, func(b *testing.B, s *store.Store) {
		fillStore(b, s)
		for name, l := range listings {
			l.Limit = 50
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					found, err := s.List(b.Context(), l)
					if err != nil || (len(found) == 0) != (name == "nothing") {
						b.Fatal(len(found), err)
					}
				}
			})
		}
		b.Run("counts", func(b *testing.B) {
			for b.Loop() {
				if counts, err := s.Counts(b.Context(), begun); err != nil || len(counts) != 4 {
					b.Fatal(counts, err)
				}
			}
		})
		b.Run("costs-of-month", func(b *testing.B) {
			for b.Loop() {
				if sums, err := s.Costs(b.Context(), "2026-12-01"); err != nil || len(sums) != 30 {
					b.Fatal(len(sums), err)
				}
			}
		})
	})
}
