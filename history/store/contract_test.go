package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/stat"
)

// start is when the first run began, and now the time of the specs.
var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now   = func() time.Time { return start.AddDate(0, 1, 0) }
)

// fresh returns the address of an empty database. It may skip the spec.
type fresh func(ctx SpecContext) string

// contract registers what every history must do. driver is how Store.Driver begins, so that the specs
// cannot pass with another database.
func contract(driver string, address fresh) {
	Describe("the contract with "+driver, Label("H-04"), func() {
		var s *store.Store
		BeforeEach(func(ctx SpecContext) { s = opened(ctx, driver, address(ctx)) })
		It("is fulfilled by the database that is named", func() {
			AddReportEntry("the contract ran with", s.Driver(), ReportEntryVisibilityAlways)
		})
		roundTrips(&s)
		selections(&s)
		kinds(&s)
		trends(&s)
		renames(&s)
		removals(&s)
		clocks(&s)
	})
}

func opened(ctx SpecContext, driver, dsn string) *store.Store {
	GinkgoHelper()
	s, err := store.Open(ctx, dsn, now)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.Close)
	Expect(s.Driver()).To(HavePrefix(driver))
	return s
}

// sharedContract registers what a history must do that several processes open.
func sharedContract(driver string, address fresh) {
	It("survives "+driver+" being closed, and several writers", Label("H-04"), func(ctx SpecContext) {
		dsn := address(ctx)
		stores := []*store.Store{opened(ctx, driver, dsn), opened(ctx, driver, dsn), opened(ctx, driver, dsn)}
		var all sync.WaitGroup
		for i, s := range stores {
			all.Go(func() {
				defer GinkgoRecover()
				for n := range 10 {
					e := entry(i*10+n, "a", "b", fmt.Sprintf("c%d", n))
					Expect(s.Add(ctx, &e, false)).To(BeTrue())
				}
			})
		}
		all.Wait()
		Expect(stores[0].Close()).To(Succeed())
		again, err := store.OpenExisting(ctx, dsn, now)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(again.Close)
		Expect(again.Runs(ctx, history.Filter{})).To(HaveLen(30))
		Expect(again.Points(ctx, history.Filter{})).To(HaveLen(90))
		Expect(again.Scenarios(ctx)).To(HaveLen(12))
	})
}

// entry returns run n, n hours after the start, with scenarios of these names.
func entry(n int, names ...string) history.Entry {
	began := start.Add(time.Duration(n) * time.Hour)
	e := history.Entry{Run: history.Run{
		ID: history.NewID(fmt.Sprint("recording ", n), began, "folder"), Kind: history.Plain, Began: began, Ended: began.Add(time.Second), At: began,
		Plan: "0123", Tool: "rehearse 1", Prices: "2026-01-01", SHA256: fmt.Sprint("recording ", n), Verdict: gate.Pass,
		Origin:    history.Origin{Commit: fmt.Sprintf("%040x", 0xabc0000+n), Branch: "main"},
		Scenarios: history.Counts{Pass: len(names)}, Trials: len(names),
	}}
	for _, name := range names {
		e.Results = append(e.Results, result(name, 3))
	}
	slices.SortFunc(e.Results, func(a, b history.Result) int { return strings.Compare(a.Name, b.Name) })
	return e
}

// result returns a passing result with a number of calls.
func result(name string, calls float64) history.Result {
	return history.Result{Scenario: compare.Scenario{
		Name: name, Verdict: gate.Pass, Status: "done", Trials: compare.Trials{Planned: 1, Pass: 1},
		Ends:         []compare.End{{Verdict: gate.Pass, Status: "done"}},
		Expectations: map[string]string{"digest": "sha256:" + name, "seed": "1", "expect.status": "done in " + name},
		Measures:     []compare.Measure{{Name: "calls", Known: true, Value: &calls, N: 1}},
	}}
}

func added(ctx SpecContext, s *store.Store, entries ...history.Entry) {
	GinkgoHelper()
	for i := range entries {
		Expect(s.Add(ctx, &entries[i], false)).To(BeTrue())
	}
}

func roundTrips(s **store.Store) {
	It("returns each run as it was stored", func(ctx SpecContext) {
		n := 0
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			n++
			e := drawEntry(t, n)
			Expect((*s).Add(ctx, &e, false)).To(BeTrue())
			Expect((*s).Entry(ctx, e.ID)).To(BeComparableTo(e))
			runs, err := (*s).Runs(ctx, history.Filter{ID: e.ID})
			Expect(err).NotTo(HaveOccurred())
			Expect(runs).To(BeComparableTo([]history.Run{e.Run}))
		})
	})

	It("stores a run once", func(ctx SpecContext) {
		first, again := entry(1, "a"), entry(1, "b")
		Expect((*s).Add(ctx, &first, false)).To(BeTrue())
		Expect((*s).Add(ctx, &again, false)).To(BeFalse())
		Expect((*s).Entry(ctx, first.ID)).To(BeComparableTo(first))
	})

	It("stores texts that a database could refuse or interpret", func(ctx SpecContext) {
		e := entry(1, "'; DROP TABLE history_runs; --")
		e.Branch, e.Stopped, e.Variant = "a\x00b", "\x00\xff%s$1", "ü'\""
		e.Results[0].Findings = []gate.Finding{{Message: "\x00"}}
		Expect((*s).Add(ctx, &e, false)).To(BeTrue())
		Expect((*s).Points(ctx, history.Filter{})).To(HaveLen(1))
		found, err := (*s).Entry(ctx, e.ID)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Results[0].Findings[0].Message).To(Equal("\x00"))
	})

	It("reports an unknown run", func(ctx SpecContext) {
		_, err := (*s).Entry(ctx, "r000000000000")
		Expect(err).To(MatchError(store.ErrNotFound))
	})

	It("changes nothing if the context has ended", func(ctx SpecContext) {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		e := entry(1, "a")
		_, err := (*s).Add(ended, &e, false)
		Expect(err).To(HaveOccurred())
		Expect((*s).Runs(ctx, history.Filter{})).To(BeEmpty())
		Expect((*s).Scenarios(ctx)).To(BeEmpty())
	})
}

// drawEntry returns any run.
func drawEntry(t *rapid.T, n int) history.Entry {
	text := rapid.StringMatching(`[a-zA-Z0-9 /ü'"$%\\-]{0,12}`)
	value := rapid.Float64Range(-1e6, 1e6)
	e := entry(n)
	e.Variant, e.Branch, e.Stopped, e.Tool = text.Draw(t, "variant"), text.Draw(t, "branch"), text.Draw(t, "stopped"), text.Draw(t, "tool")
	e.Dirty, e.Interrupted = rapid.Bool().Draw(t, "dirty"), rapid.Bool().Draw(t, "interrupted")
	e.CI, e.Folder, e.Bytes = text.Draw(t, "ci"), text.Draw(t, "folder"), rapid.Int64Min(0).Draw(t, "bytes")
	if rapid.Bool().Draw(t, "cost known") {
		e.CostEUR = new(value.Draw(t, "cost"))
	}
	if list := rapid.SliceOfN(text, 0, 3).Draw(t, "not run"); len(list) > 0 {
		e.NotRun, e.Problems, e.Labels = list, list, map[string]string{"branch": list[0]}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "scenarios") {
		r := result(fmt.Sprint("s", i), value.Draw(t, "calls"))
		r.RealTime, r.Stops, r.File = rapid.Bool().Draw(t, "real time"), rapid.StringMatching("[PpNn]{0,3}").Draw(t, "stops"), text.Draw(t, "file")
		r.Trials = compare.Trials{Planned: 3, Pass: 1, Fail: 1, Skip: 1}
		x := value.Draw(t, "x")
		r.Measures = append(r.Measures, compare.Measure{
			Name: "latency_p95", Unit: "s", N: 2, Value: &x, Interval: &stat.Interval{Lo: x - 1, Hi: x + 1, Level: 0.95, Method: "student-t", N: 2},
			Trials: []*float64{nil, &x, new(value.Draw(t, "y"))},
		}, compare.Measure{Name: "tokens"})
		if rapid.Bool().Draw(t, "finding") {
			r.Findings = []gate.Finding{{Severity: gate.Failing, Rule: "calls", Message: text.Draw(t, "message"), Trial: 2}}
		}
		e.Results = append(e.Results, r)
	}
	return e
}

func selections(s **store.Store) {
	ids := func(runs []history.Run, err error) []string {
		GinkgoHelper()
		Expect(err).NotTo(HaveOccurred())
		var list []string
		for i := range runs {
			list = append(list, runs[i].ID)
		}
		return list
	}
	It("selects runs, the newest first", func(ctx SpecContext) {
		var entries []history.Entry
		for n := range 6 {
			e := entry(n, "a")
			if n%2 == 1 {
				e.Branch = "feature/x"
			}
			entries = append(entries, e)
		}
		added(ctx, *s, entries[3], entries[0], entries[5], entries[1], entries[4], entries[2]) // in any order
		id := func(n int) string { return entries[n].ID }
		find := func(f history.Filter) []string { return ids((*s).Runs(ctx, f)) }
		Expect(find(history.Filter{})).To(Equal([]string{id(5), id(4), id(3), id(2), id(1), id(0)}))
		Expect(find(history.Filter{Limit: 2, Skip: 1})).To(Equal([]string{id(4), id(3)}))
		Expect(find(history.Filter{Skip: 5})).To(Equal([]string{id(0)}))
		Expect(find(history.Filter{Branch: "main", Limit: 2})).To(Equal([]string{id(4), id(2)}))
		Expect(find(history.Filter{ID: id(2)[:8]})).To(Equal([]string{id(2)}))
		Expect(find(history.Filter{Commit: entries[4].Commit[:40]})).To(Equal([]string{id(4)}))
		Expect(find(history.Filter{Commit: "ffff"})).To(BeEmpty())
		Expect(find(history.Filter{SHA256: "recording 1"})).To(Equal([]string{id(1)}))
		Expect(find(history.Filter{Until: start.Add(time.Hour)})).To(Equal([]string{id(1), id(0)}))
		Expect(find(history.Filter{Before: start.Add(time.Hour)})).To(Equal([]string{id(0)}))
	})

	It("orders runs that began at the same time as they were stored", func(ctx SpecContext) {
		first, second := entry(1, "a"), entry(1, "a")
		second.ID = "rffffffffffff"
		added(ctx, *s, second, first)
		Expect(ids((*s).Runs(ctx, history.Filter{}))).To(Equal([]string{first.ID, second.ID}))
	})
}

func kinds(s **store.Store) {
	It("keeps names and trends to runs and merged runs", func(ctx SpecContext) {
		var entries []history.Entry
		for n, kind := range []history.Kind{
			history.Plain, history.Merged, history.Watched, history.Explored, history.Compared, history.Tuned,
		} {
			e := entry(n, "a")
			e.Kind = kind
			entries = append(entries, e)
		}
		added(ctx, *s, entries...)
		comparable := ConsistOf(HaveField("ID", entries[0].ID), HaveField("ID", entries[1].ID))
		Expect((*s).Runs(ctx, history.Filter{})).To(comparable)
		Expect((*s).Runs(ctx, history.Filter{Branch: "main", Before: now()})).To(comparable)
		Expect((*s).Runs(ctx, history.Filter{Commit: entries[3].Commit})).To(BeEmpty())
		Expect((*s).Runs(ctx, history.Filter{All: true})).To(HaveLen(6))
		Expect((*s).Runs(ctx, history.Filter{SHA256: entries[4].SHA256})).To(ConsistOf(HaveField("Kind", history.Compared)))
		Expect((*s).Entry(ctx, entries[3].ID)).To(BeComparableTo(entries[3]))
		ran := ConsistOf(HaveField("Run", entries[0].ID), HaveField("Run", entries[1].ID))
		Expect((*s).Points(ctx, history.Filter{})).To(ran)
		Expect((*s).Trend(ctx, history.Identity{Scenario: "a"}, history.Filter{})).To(ran)
	})
}

func trends(s **store.Store) {
	It("returns the results of a scenario, the oldest first", func(ctx SpecContext) {
		for n := range 5 {
			e := entry(n, "a", "b")
			e.Results[0] = result("a", float64(n))
			if n == 3 {
				e.Variant = "other"
			}
			added(ctx, *s, e)
		}
		points, err := (*s).Trend(ctx, history.Identity{Scenario: "a"}, history.Filter{Limit: 3})
		Expect(err).NotTo(HaveOccurred())
		var calls []float64
		for _, p := range points {
			Expect(p.Measures).To(HaveLen(1))
			calls = append(calls, *p.Measures[0].Value)
			Expect(p.Trials).To(Equal(history.Counts{Pass: 1}))
			Expect(p.Measures[0].Alike).To(BeTrue())
			Expect(p.Digest).To(Equal("sha256:a"))
		}
		Expect(calls).To(Equal([]float64{1, 2, 4}))
		named, err := (*s).Trend(ctx, history.Identity{Scenario: "a"}, history.Filter{Limit: 3}, "tokens", "calls")
		Expect(err).NotTo(HaveOccurred())
		Expect(named).To(Equal(points))
		named, err = (*s).Trend(ctx, history.Identity{Scenario: "a"}, history.Filter{Limit: 3}, "tokens")
		Expect(err).NotTo(HaveOccurred())
		Expect(named).To(And(HaveLen(3), HaveEach(HaveField("Measures", BeEmpty()))))
		Expect((*s).Trend(ctx, history.Identity{Scenario: "none"}, history.Filter{})).To(BeEmpty())
		Expect((*s).Trend(ctx, history.Identity{Scenario: "a", Variant: "other"}, history.Filter{})).To(HaveLen(1))
		all, err := (*s).Points(ctx, history.Filter{Limit: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(all).To(HaveLen(4))
		Expect(all[0].Identity).To(Equal(history.Identity{Scenario: "a"}))
	})
}

func renames(s **store.Store) {
	renamed := func(name, as string) history.Result {
		r := result(name, 3)
		r.Name, r.Expectations["digest"] = as, "sha256:another"
		return r
	}
	It("offers what a scenario was called before", func(ctx SpecContext) {
		added(ctx, *s, entry(1, "old", "other"), entry(2, "old", "other"))
		after := entry(3, "other")
		after.Results = append(after.Results, renamed("old", "renamed"))
		added(ctx, *s, after)
		Expect((*s).Renamed(ctx, history.Identity{Scenario: "renamed"})).To(Equal([]history.Identity{{Scenario: "old"}}))
		Expect((*s).Renamed(ctx, history.Identity{Scenario: "old"})).To(BeEmpty())
		Expect((*s).Renamed(ctx, history.Identity{Scenario: "other"})).To(BeEmpty())
		Expect((*s).Renamed(ctx, history.Identity{Scenario: "none"})).To(BeEmpty())
		added(ctx, *s, entry(4, "old"))
		Expect((*s).Renamed(ctx, history.Identity{Scenario: "renamed"})).To(BeEmpty(), "both are run: it is a copy")
	})
}

func removals(s **store.Store) {
	It("removes runs and what only they use", func(ctx SpecContext) {
		first, second := entry(1, "a", "gone"), entry(2, "a")
		added(ctx, *s, first, second)
		Expect((*s).Remove(ctx, []string{first.ID, "rffffffffffff"})).To(Equal(1))
		Expect((*s).Entry(ctx, second.ID)).To(BeComparableTo(second))
		Expect((*s).Scenarios(ctx)).To(Equal([]history.Identity{{Scenario: "a"}}))
		Expect((*s).Remove(ctx, nil)).To(BeZero())
		Expect((*s).Add(ctx, &first, false)).To(BeTrue(), "it can be imported again")
		Expect((*s).Entry(ctx, first.ID)).To(BeComparableTo(first))
	})
}

func clocks(s **store.Store) {
	It("does not let a run be newer than the time of the database", func(ctx SpecContext) {
		e := entry(1, "a")
		e.Began = now().AddDate(10, 0, 0)
		Expect((*s).Add(ctx, &e, false)).To(BeTrue())
		if !strings.HasPrefix((*s).Driver(), "PostgreSQL") { // whose clock is real
			Expect(e.At).To(Equal(now()))
		}
		Expect(e.At).To(BeTemporally("<", e.Began))
		Expect(e.Began).To(Equal(now().AddDate(10, 0, 0)), "what the machine's clock showed is kept")
		Expect((*s).Entry(ctx, e.ID)).To(BeComparableTo(e))
	})
}
