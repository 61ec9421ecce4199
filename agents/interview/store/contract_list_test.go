package store_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// stateOf changes a session so that it has a status.
func stateOf(s session.Session, status session.Status, since time.Time) session.Session {
	s.Phase, s.Owed, s.Updated = session.Asking, nil, since
	switch status {
	case session.StatusFinished:
		s.Phase = session.Finished
	case session.StatusOpen:
	default:
		s.Phase, s.Updated = session.Owing, since.Add(time.Hour)
		s.Owed = &session.Owed{Purpose: session.PurposeMirror, Since: since}
		if status != session.StatusOwing {
			s.Owed.Failed = "reply_invalid"
		}
		if status == session.StatusLimited {
			s.Owed.Limit = "cost"
		}
	}
	return s
}

func operators(open opener) {
	It("lists by status, candidate, day and cost in every order, page by page", func(ctx SpecContext) {
		s := open(ctx)
		var all []session.Session
		drawn := func(t *rapid.T) session.Session {
			i := len(all)
			return stateOf(session.Session{
				ID: fmt.Sprintf("%03d", (i*37)%101), Candidate: rapid.SampledFrom([]string{"lea", "tom"}).Draw(t, "candidate"),
				Language: session.French, Step: session.Block1, Job: &session.Job{ID: rapid.SampledFrom([]string{"nurse", "buyer"}).Draw(t, "job")},
				Invitation: rapid.SampledFrom([]string{"", "3f9a1c22b0"}).Draw(t, "invitation"),
				Created:    start.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "created")) * 24 * time.Hour),
				Spent:      quantity.Money{Amount: float64(rapid.IntRange(0, 4).Draw(t, "cents")) / 100, Currency: quantity.EUR},
			}, rapid.SampledFrom(session.Statuses()).Draw(t, "status"),
				start.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "since"))*time.Hour))
		}
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			if len(all) < 60 { // the sessions stay from one example to the next
				n := drawn(t)
				if err := s.Create(ctx, n, session.Change{}); err != nil {
					t.Fatal(err)
				}
				n.Version = 1
				// A commit changes the status, too.
				changed := stateOf(n, session.Statuses()[len(all)%5], n.Since().Add(time.Minute))
				if _, err := s.Commit(ctx, changed, session.Change{}); err != nil {
					t.Fatal(err)
				}
				all = append(all, changed)
			}
			l := drawnListing(t)
			var got []string
			for page := l; ; {
				found, err := s.List(ctx, page)
				if err != nil {
					t.Fatal(err)
				}
				for i := range found {
					got = append(got, found[i].ID)
				}
				if len(found) < page.Limit {
					break
				}
				page.After = l.Cursor(&found[len(found)-1])
			}
			if want := listed(all, l); !slices.Equal(got, want) {
				t.Fatalf("%+v lists\n%q, expected\n%q", l, got, want)
			}
		})
	})

	It("has each session once, page by page, also if some began at one instant or are deleted meanwhile", func(ctx SpecContext) {
		s := open(ctx)
		var want []string
		for i := range 7 {
			begin(ctx, s, fmt.Sprint(i))
			want = append([]string{fmt.Sprint(i)}, want...)
		}
		var got []string
		for one, err := range session.Each(ctx, s, session.Listing{Candidate: "lea", Limit: 2}) {
			Expect(err).NotTo(HaveOccurred())
			got = append(got, one.ID)
			Expect(session.Erase(ctx, s, one.ID)).To(Succeed())
		}
		Expect(got).To(Equal(want))
		for _, err := range session.Each(ctx, s, session.Listing{Sort: "none"}) {
			Expect(err).To(MatchError(ContainSubstring("unknown order")))
		}
	})

	It("refuses an unknown order and a malformed cursor", func(ctx SpecContext) {
		s := open(ctx)
		_, err := s.List(ctx, session.Listing{Sort: "id; DROP TABLE interview_sessions"})
		Expect(err).To(MatchError(ContainSubstring("unknown order")))
		for _, cursor := range []string{"x", "1", "1.", ".a", "x.a", "99999999999999999999.a"} {
			_, err = s.List(ctx, session.Listing{After: cursor})
			Expect(err).To(MatchError(session.ErrCursor), cursor)
		}
	})

	It("counts sessions by status, and those that have had it for long", func(ctx SpecContext) {
		s := open(ctx)
		Expect(s.Counts(ctx, start)).To(BeEmpty())
		for i, status := range []session.Status{
			session.StatusStuck, session.StatusStuck, session.StatusStuck, session.StatusOwing, session.StatusFinished,
		} {
			n := session.Session{ID: fmt.Sprint(i), Candidate: "lea", Step: session.Block1, Created: start}
			Expect(s.Create(ctx, stateOf(n, status, start.Add(time.Duration(i)*time.Minute)), session.Change{})).To(Succeed())
		}
		Expect(s.Counts(ctx, start.Add(2*time.Minute))).To(Equal([]session.StatusCount{
			{Status: session.StatusFinished, Sessions: 1, Oldest: start.Add(4 * time.Minute)},
			{Status: session.StatusOwing, Sessions: 1, Oldest: start.Add(3 * time.Minute)},
			{Status: session.StatusStuck, Sessions: 3, Overdue: 2, Oldest: start},
		}))
	})

	It("adds up the costs of each day, with those of deleted sessions, and counts the unknown ones", func(ctx SpecContext) {
		s := open(ctx)
		call := func(n int, day int, cost float64, currency quantity.Currency) session.Call {
			c := session.Call{N: n, Purpose: session.PurposeMirror, Step: session.Block1, Outcome: session.Accepted, At: start.AddDate(0, 0, day)}
			if currency != "" {
				c.Cost = &quantity.Money{Amount: cost, Currency: currency}
			}
			return c
		}
		for _, id := range []string{"kept", "gone"} {
			n := begin(ctx, s, id)
			begun := call(1, 0, 0, "")
			begun.Outcome = session.Begun
			version, err := s.Commit(ctx, n, session.Change{Calls: []session.Call{begun, call(2, 1, 0.5, quantity.EUR)}})
			Expect(err).NotTo(HaveOccurred())
			n.Version = version
			_, err = s.Commit(ctx, n, session.Change{Calls: []session.Call{
				call(1, 0, 0.25, quantity.EUR), call(3, 1, 0.125, quantity.USD), call(4, 1, 0, ""),
			}})
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(session.Erase(ctx, s, "gone")).To(Succeed())
		want := []session.Total{
			{Day: "2026-03-01", Currency: quantity.EUR, Calls: 2, Cost: 0.5},
			{Day: "2026-03-02", Calls: 2, Unpriced: 2},
			{Day: "2026-03-02", Currency: quantity.EUR, Calls: 2, Cost: 1},
			{Day: "2026-03-02", Currency: quantity.USD, Calls: 2, Cost: 0.25},
		}
		Expect(s.Costs(ctx, "2026-03-01")).To(Equal(want))
		Expect(s.Costs(ctx, "2026-03-02")).To(Equal(want[1:]))
		Expect(s.Costs(ctx, "2026-03-03")).To(BeEmpty())
	})
}

// upgradeContract registers that a store of an earlier version gets the columns of the lists.
func upgradeContract(driver string, fresh freshDSN) {
	It("fills in what lists and sums need, in a store of an earlier version, with "+driver, func(ctx SpecContext) {
		s := openStore(ctx, driver, fresh(ctx))
		for i, status := range session.Statuses() {
			n := stateOf(session.Session{
				ID: string(status), Candidate: "lea", Step: session.Block1, Created: start,
				Spent: quantity.Money{Amount: float64(i) / 100, Currency: quantity.EUR}, Invitation: "3f9a1c22b0", Job: &session.Job{ID: "nurse"},
			}, status, start.Truncate(time.Second).Add(time.Duration(i)*time.Hour))
			if n.Owed != nil {
				n.Owed.Reply, n.Owed.Since = "a \x00 \\u0000 b", time.Time{}
				n.Updated = start.Truncate(time.Second).Add(time.Duration(i) * time.Hour).In(time.FixedZone("east", 9*3600))
			}
			calls := []session.Call{
				{N: 1, Purpose: session.PurposeMirror, Step: n.Step, Outcome: session.Lost, At: start},
				{
					N: 2, Purpose: session.PurposeMirror, Step: n.Step, Outcome: session.Accepted, Detail: "\x00",
					At: start.In(time.FixedZone("west", -11*3600)), Cost: &quantity.Money{Amount: 0.5, Currency: quantity.USD},
				},
			}
			Expect(s.Create(ctx, n, session.Change{Calls: calls})).To(Succeed())
		}
		counts, err := s.Counts(ctx, start.Add(90*time.Minute))
		Expect(err).NotTo(HaveOccurred())
		Expect(counts).To(HaveLen(5))
		costs, err := s.Costs(ctx, "")
		Expect(err).NotTo(HaveOccurred())
		dearest, err := s.List(ctx, session.Listing{Sort: session.Dearest})
		Expect(err).NotTo(HaveOccurred())
		old := fresh(ctx)
		downgraded(ctx, s, old, strings.HasPrefix(driver, "PostgreSQL"))
		Expect(s.Close()).To(Succeed())
		again := openStore(ctx, driver, old)
		Expect(again.Counts(ctx, start.Add(90*time.Minute))).To(Equal(counts))
		Expect(again.Costs(ctx, "")).To(Equal(costs))
		Expect(again.List(ctx, session.Listing{Sort: session.Dearest})).To(BeComparableTo(dearest))
		Expect(again.List(ctx, session.Listing{Job: "nurse", Invitation: "3f9a1c22b0"})).To(HaveLen(5))
	})
}

// downgraded copies sessions and calls to a new store of the version before.
func downgraded(ctx context.Context, s *store.Store, dsn string, postgres bool) {
	GinkgoHelper()
	name, folder := "sqlite", "migrations/sqlite"
	if postgres {
		name, folder = "pgx", "migrations/postgres"
	}
	db, err := sql.Open(name, dsn)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(db.Close()).To(Succeed()) }()
	if !postgres {
		_, err := db.ExecContext(ctx, `PRAGMA application_id = 0x72687273`) // that of a store
		Expect(err).NotTo(HaveOccurred())
	}
	files := fstest.MapFS{}
	for _, file := range []string{"00001_interviews.sql", "00002_deletion.sql"} {
		data, err := os.ReadFile(filepath.Join(folder, file))
		Expect(err).NotTo(HaveOccurred())
		files[file] = &fstest.MapFile{Data: data}
	}
	Expect(database.Migrate(ctx, db, postgres, files, "interview_schema")).To(Succeed())
	copyRows(ctx, store.DB(s), db, "sessions", "id, candidate, created_ns, version, step, body")
	copyRows(ctx, store.DB(s), db, "calls", "session, n, body")
}

func copyRows(ctx context.Context, from, to *sql.DB, table, columns string) {
	GinkgoHelper()
	rows, err := from.QueryContext(ctx, `SELECT `+columns+` FROM interview_`+table)
	Expect(err).NotTo(HaveOccurred())
	defer func() { Expect(rows.Close()).To(Succeed()) }()
	n := strings.Count(columns, ",") + 1
	values, into := make([]any, n), make([]any, n)
	places := make([]string, n)
	for i := range into {
		into[i], places[i] = &values[i], fmt.Sprint("$", i+1)
	}
	for rows.Next() {
		Expect(rows.Scan(into...)).To(Succeed())
		_, err := to.ExecContext(ctx, `INSERT INTO interview_`+table+` (`+columns+`) VALUES (`+strings.Join(places, ", ")+`)`, values...)
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(rows.Err()).NotTo(HaveOccurred())
}

func drawnListing(t *rapid.T) session.Listing {
	l := session.Listing{
		Candidate: rapid.SampledFrom([]string{"", "lea", "nobody"}).Draw(t, "of"),
		Job:       rapid.SampledFrom([]string{"", "", "nurse", "pilot"}).Draw(t, "about"), Invitation: rapid.SampledFrom([]string{"", "", "3f9a1c22b0"}).Draw(t, "by"),
		Status: rapid.SampledFrom(append(session.Statuses(), "", "")).Draw(t, "with"),
		Sort:   rapid.SampledFrom(append(session.Sorts(), "")).Draw(t, "sort"),
		Limit:  rapid.IntRange(1, 20).Draw(t, "limit"),
	}
	day := func(name string) time.Time {
		if !rapid.Bool().Draw(t, name) {
			return time.Time{}
		}
		return start.AddDate(0, 0, rapid.IntRange(0, 6).Draw(t, name))
	}
	cost := func(name string) *float64 {
		if !rapid.Bool().Draw(t, name) {
			return nil
		}
		v := float64(rapid.IntRange(0, 5).Draw(t, name)) / 100
		return &v
	}
	l.From, l.Before, l.MinCost, l.MaxCost = day("from"), day("before"), cost("least"), cost("most")
	return l
}

// listed returns the ids that a listing selects, in its order.
func listed(all []session.Session, l session.Listing) (ids []string) {
	var found []session.Session
	for _, s := range all {
		if (l.Candidate == "" || s.Candidate == l.Candidate) && (l.Status == "" || s.Status() == l.Status) &&
			(l.Job == "" || s.JobID() == l.Job) && (l.Invitation == "" || s.Invitation == l.Invitation) &&
			!s.Created.Before(l.From) && (l.Before.IsZero() || s.Created.Before(l.Before)) &&
			(l.MinCost == nil || s.Spent.Amount >= *l.MinCost) && (l.MaxCost == nil || s.Spent.Amount <= *l.MaxCost) {
			found = append(found, s)
		}
	}
	slices.SortFunc(found, func(a, b session.Session) int {
		var by int
		switch l.Sort {
		case session.Latest, session.Longest:
			by = a.Since().Compare(b.Since())
		case session.Dearest:
			by = cmp.Compare(a.Spent.Amount, b.Spent.Amount)
		default:
			by = a.Created.Compare(b.Created)
		}
		if by = cmp.Or(by, cmp.Compare(a.ID, b.ID)); l.Sort == session.Oldest || l.Sort == session.Longest {
			return by
		}
		return -by
	})
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	return ids
}
