package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// paidCalls returns calls of two days, of which one has no outcome and one no cost.
func paidCalls() []session.Call {
	usd := func(amount float64) *quantity.Money { return &quantity.Money{Amount: amount, Currency: quantity.USD} }
	call := func(n int, at time.Time, outcome session.Outcome, cost *quantity.Money) session.Call {
		c := session.Call{N: n, Step: session.Block1, Model: "m-1", At: at, Outcome: outcome, Cost: cost}
		c.Counted.Input, c.Counted.CachedInput, c.Counted.Output = 100*n, 10, n
		return c
	}
	return []session.Call{
		call(1, start, session.Accepted, usd(.25)), call(2, start.AddDate(0, 0, 1), session.Rejected, usd(.5)),
		call(3, start, session.Accepted, usd(.125)), call(4, start, session.Accepted, nil), call(5, start, session.Begun, nil),
	}
}

func deletions(open opener) {
	It("deletes all of a session and nothing else", func(ctx SpecContext) {
		s := open(ctx)
		for _, id := range []string{"a", "b"} {
			_, err := s.Commit(ctx, begin(ctx, s, id), stepOf(1))
			Expect(err).NotTo(HaveOccurred())
		}
		other := snapshot(ctx, s, "b")
		n := load(ctx, s, "a")
		Expect(s.Delete(ctx, "a", n.Version)).To(Succeed())

		_, err := s.Load(ctx, "a")
		Expect(err).To(And(MatchError(session.ErrDeleted), MatchError(session.ErrNotFound)))
		for _, read := range []func() (any, error){
			func() (any, error) { return s.Messages(ctx, "a") },
			func() (any, error) { return s.Answers(ctx, "a") },
			func() (any, error) { return s.Queues(ctx, "a") },
			func() (any, error) { return s.Calls(ctx, "a") },
		} {
			_, err := read()
			Expect(err).To(MatchError(session.ErrDeleted))
		}
		Expect(s.Submitted(ctx, "a", "s1")).To(BeFalse())
		Expect(s.List(ctx, session.Listing{})).To(HaveExactElements(HaveField("ID", "b")))
		for _, table := range []string{"submissions", "messages", "answers", "queues", "calls"} {
			var rows int
			Expect(store.DB(s).QueryRowContext(ctx, "SELECT count(*) FROM interview_"+table+" WHERE session = 'a'").Scan(&rows)).To(Succeed())
			Expect(rows).To(BeZero(), table)
		}
		Expect(snapshot(ctx, s, "b")).To(BeComparableTo(other))

		By("refusing to go on with it, or to use its id again")
		_, err = s.Commit(ctx, n, stepOf(2))
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(s.Delete(ctx, "a", n.Version)).To(MatchError(session.ErrDeleted))
		Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "tom", Step: session.Tone}, stepOf(1))).To(MatchError(session.ErrConflict))
		_, err = s.Load(ctx, "a")
		Expect(err).To(MatchError(session.ErrDeleted))
	})

	It("deletes the version that was read, or nothing", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		_, err := s.Commit(ctx, n, stepOf(1))
		Expect(err).NotTo(HaveOccurred())
		before := snapshot(ctx, s, "a")
		Expect(s.Delete(ctx, "a", n.Version)).To(MatchError(session.ErrConflict))
		Expect(snapshot(ctx, s, "a")).To(BeComparableTo(before))
		Expect(s.DeletedTotals(ctx)).To(BeEmpty())
		err = s.Delete(ctx, "nobody", 1)
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(err).NotTo(MatchError(session.ErrDeleted))
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
	})

	It("keeps the sums of calls, and only these", func(ctx SpecContext) {
		s := open(ctx)
		var all []session.Call
		for i := range 3 {
			id := fmt.Sprint("s", i)
			Expect(s.Create(ctx, session.Session{ID: id, Candidate: "lea", Step: session.Tone, Created: start}, session.Change{Calls: paidCalls()})).To(Succeed())
			all = append(all, paidCalls()...)
			Expect(session.Erase(ctx, s, id)).To(Succeed())
		}
		Expect(s.DeletedTotals(ctx)).To(Equal(session.Totals(all)))
		Expect(s.DeletedTotals(ctx)).To(Equal([]session.Total{
			{Day: "2026-03-01", Model: "m-1", Calls: 6, Unpriced: 6, Input: 3 * 410, Output: 12},
			{Day: "2026-03-01", Model: "m-1", Currency: quantity.USD, Calls: 6, Input: 3 * 420, Output: 12, Cost: 3 * .375},
			{Day: "2026-03-02", Model: "m-1", Currency: quantity.USD, Calls: 3, Input: 3 * 210, Output: 6, Cost: 1.5},
		}))
	})

	It("counts each call once, whoever writes and deletes at the same time", func(ctx SpecContext) {
		s := open(ctx)
		begin(ctx, s, "a")
		var stored []session.Call
		var all sync.WaitGroup
		all.Go(func() {
			defer GinkgoRecover()
			for i := 1; ; i++ {
				n, err := s.Load(ctx, "a")
				if errors.Is(err, session.ErrDeleted) {
					return
				}
				Expect(err).NotTo(HaveOccurred())
				c := session.Call{N: i, Step: session.Block1, At: start, Outcome: session.Accepted}
				if _, err = s.Commit(ctx, n, session.Change{Calls: []session.Call{c}}); errors.Is(err, session.ErrNotFound) {
					return
				}
				Expect(err).NotTo(HaveOccurred())
				stored = append(stored, c)
			}
		})
		erased := make(chan struct{}, 3)
		for range 3 {
			all.Go(func() {
				defer GinkgoRecover()
				for {
					err := session.Erase(ctx, s, "a")
					if err == nil {
						erased <- struct{}{}
					}
					if !errors.Is(err, session.ErrConflict) {
						return
					}
				}
			})
		}
		all.Wait()
		Expect(erased).To(HaveLen(1), "one deletion succeeds")
		Expect(s.DeletedTotals(ctx)).To(Equal(session.Totals(stored)))
	})

	It("deletes what was not used for long", func(ctx SpecContext) {
		s := open(ctx)
		for i := range 20 { // even ones were used later
			created := start.Add(time.Duration(i) * time.Hour)
			n := session.Session{ID: fmt.Sprintf("%02d", i), Candidate: "c", Step: session.Tone, Created: created, Updated: created}
			if i%2 == 0 {
				n.Updated = start.AddDate(0, 0, 30)
			}
			Expect(s.Create(ctx, n, session.Change{})).To(Succeed())
		}
		Expect(session.EraseUnused(ctx, s, start.Add(10*time.Hour))).To(Equal(5))
		left, err := s.List(ctx, session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(left).To(HaveLen(15))
		Expect(left).To(HaveEach(HaveField("Updated", Not(BeTemporally("<", start.Add(10*time.Hour))))))
		Expect(session.EraseUnused(ctx, s, start.Add(10*time.Hour))).To(BeZero())
	})

	It("keeps one secret for all servers", func(ctx SpecContext) {
		s := open(ctx)
		secrets := make([]string, 8)
		var all sync.WaitGroup
		for i := range secrets {
			all.Go(func() {
				defer GinkgoRecover()
				var err error
				secrets[i], err = s.Secret(ctx, "links")
				Expect(err).NotTo(HaveOccurred())
			})
		}
		all.Wait()
		Expect(secrets).To(HaveEach(And(Equal(secrets[0]), HaveLen(52))))
		Expect(s.Secret(ctx, "other")).NotTo(Equal(secrets[0]))
	})
}

var _ = Describe("a deleted session in a file", func() {
	It("leaves no byte of a text behind, in the file and in its log", func(ctx SpecContext) {
		path := filepath.Join(GinkgoT().TempDir(), "s.db")
		s := opened(ctx, path)
		holds := func() (found bool) {
			GinkgoHelper()
			for _, name := range []string{path, path + "-wal"} {
				content, err := os.ReadFile(name)
				Expect(err).NotTo(HaveOccurred())
				found = found || strings.Contains(string(content), "very private")
			}
			return found
		}
		n := begin(ctx, s, "a")
		begin(ctx, s, "b")
		for i := range 20 {
			text := strings.Repeat("very private, ", 1+100*i)
			n.Works = []string{text}
			version, err := s.Commit(ctx, n, session.Change{
				Messages: []session.Message{{Seq: i + 1, Step: session.Tone, Text: text}},
				Queue:    &session.Queue{Step: session.Tone, Questions: []string{text}},
			})
			Expect(err).NotTo(HaveOccurred())
			n.Version = version
		}
		Expect(holds()).To(BeTrue())
		Expect(session.Erase(ctx, s, "a")).To(Succeed())
		Expect(holds()).To(BeFalse())
		Expect(s.Load(ctx, "b")).To(HaveField("ID", "b"))
	})
})
