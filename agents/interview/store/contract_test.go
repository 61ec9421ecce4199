package store_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// freshDSN returns the address of an empty database that a spec has to itself, and
// cleans up after it. It may skip the spec.
type freshDSN func(ctx SpecContext) (dsn string)

// Contract registers what every store must do. The driver is how
// store.Store.Driver begins, so that the specs cannot pass with another one.
func storeContract(driver string, fresh freshDSN) {
	Describe("the contract with "+driver, func() {
		open := func(ctx SpecContext) *store.Store { return openStore(ctx, driver, fresh(ctx)) }
		It("is fulfilled by the database that is named", func(ctx SpecContext) {
			AddReportEntry("the contract ran with", open(ctx).Driver(), ReportEntryVisibilityAlways)
		})
		sessionContract(func(ctx SpecContext) session.Store { return open(ctx) })
		listings(open)
		hostileText(open)
		cancellation(open)
		deletions(open)
		spending(open)
		inviting(open)
		sharing(open)
		trying(open)
		operators(open)
	})
}

// sessionContract registers what every session.Store must do with sessions.
func sessionContract(open sessionOpener) {
	roundTrips(open)
	replacements(open)
	unknown(open)
	modelled(open)
	conflicts(open)
	concurrency(open)
}

func openStore(ctx SpecContext, driver, dsn string) *store.Store {
	GinkgoHelper()
	s, err := store.Open(ctx, dsn)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.Close)
	Expect(s.Driver()).To(HavePrefix(driver))
	return s
}

// opener opens the spec's own database.
type opener func(ctx SpecContext) *store.Store

// sessionOpener opens the spec's own store.
type sessionOpener func(ctx SpecContext) session.Store

// begin creates a session with an id.
func begin(ctx SpecContext, s session.Store, id string) session.Session {
	GinkgoHelper()
	Expect(s.Create(ctx, session.Session{
		ID: id, Candidate: "lea", Language: session.French, Created: start, Updated: start,
		Step: session.Block1, Phase: session.Asking,
	}, session.Change{})).To(Succeed())
	return load(ctx, s, id)
}

func load(ctx SpecContext, s session.Store, id string) session.Session {
	GinkgoHelper()
	n, err := s.Load(ctx, id)
	Expect(err).NotTo(HaveOccurred())
	return n
}

// everything contains all that a store returns about a session.
type everything struct {
	Session  session.Session
	Messages []session.Message
	Answers  []session.Answer
	Queues   []session.Queue
	Calls    []session.Call
}

func readAll(ctx context.Context, s session.Store, id string) (all everything, err error) {
	steps := []func() error{
		func() (err error) { all.Session, err = s.Load(ctx, id); return err },
		func() (err error) { all.Messages, err = s.Messages(ctx, id); return err },
		func() (err error) { all.Answers, err = s.Answers(ctx, id); return err },
		func() (err error) { all.Queues, err = s.Queues(ctx, id); return err },
		func() (err error) { all.Calls, err = s.Calls(ctx, id); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return everything{}, err
		}
	}
	return all, nil
}

func snapshot(ctx SpecContext, s session.Store, id string) everything {
	GinkgoHelper()
	all, err := readAll(ctx, s, id)
	Expect(err).NotTo(HaveOccurred())
	return all
}

func conflicts(open sessionOpener) {
	It("creates a session once", func(ctx SpecContext) {
		s := open(ctx)
		begin(ctx, s, "a")
		before := snapshot(ctx, s, "a")
		err := s.Create(ctx, session.Session{ID: "a", Candidate: "tom"}, session.Change{
			Messages: []session.Message{{Seq: 1, Step: session.Tone}},
		})
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(snapshot(ctx, s, "a")).To(BeComparableTo(before))
	})

	It("creates all of a session or nothing", func(ctx SpecContext) {
		s := open(ctx)
		c := stepOf(1)
		c.Answers[1].Index = c.Answers[0].Index
		err := s.Create(ctx, session.Session{ID: "a", Candidate: "tom", Step: session.Tone}, c)
		Expect(err).To(MatchError(session.ErrConflict))
		_, err = s.Load(ctx, "a")
		Expect(err).To(MatchError(session.ErrNotFound))
		Expect(s.Submitted(ctx, "a", "s1")).To(BeFalse())
		begin(ctx, s, "a")
	})

	DescribeTable("refuses a change with a conflict as a whole",
		func(ctx SpecContext, spoil func(n *session.Session, c *session.Change)) {
			s := open(ctx)
			n := begin(ctx, s, "a")
			version, err := s.Commit(ctx, n, stepOf(1))
			Expect(err).NotTo(HaveOccurred())
			n = load(ctx, s, "a")
			Expect(n.Version).To(Equal(version))
			before := snapshot(ctx, s, "a")

			c := stepOf(2)
			spoil(&n, &c)
			n.Register = session.Formal
			_, err = s.Commit(ctx, n, c)
			Expect(err).To(MatchError(session.ErrConflict))
			Expect(snapshot(ctx, s, "a")).To(BeComparableTo(before))
			Expect(s.Submitted(ctx, "a", "s2")).To(BeFalse())

			By("storing the next one all the same")
			Expect(s.Commit(ctx, load(ctx, s, "a"), stepOf(2))).To(Equal(version + 1))
		},
		Entry("of an earlier version", func(n *session.Session, _ *session.Change) { n.Version-- }),
		Entry("of a later version", func(n *session.Session, _ *session.Change) { n.Version++ }),
		Entry("of no version", func(n *session.Session, _ *session.Change) { n.Version = 0 }),
		Entry("with a submission that is stored", func(_ *session.Session, c *session.Change) { c.Submission = "s1" }),
		Entry("with an answer that is stored", func(_ *session.Session, c *session.Change) { c.Answers[1].Index = 1 }),
		Entry("with a message that is stored", func(_ *session.Session, c *session.Change) { c.Messages[1].Seq = 1 }),
		Entry("with one answer twice", func(_ *session.Session, c *session.Change) { c.Answers[1].Index = 2 }),
	)

	It("keeps the submissions and answers of two sessions apart", func(ctx SpecContext) {
		s := open(ctx)
		for _, id := range []string{"a", "b"} {
			_, err := s.Commit(ctx, begin(ctx, s, id), stepOf(1))
			Expect(err).NotTo(HaveOccurred())
		}
	})
}

// stepOf returns a change that touches everything there is.
func stepOf(n int) session.Change {
	return session.Change{
		Submission: fmt.Sprintf("s%d", n),
		Messages: []session.Message{
			{Seq: 2*n - 1, Step: session.Block1, Text: textOf(n)}, {Seq: 2 * n, Step: session.Block1, Text: textOf(n)},
		},
		Answers: []session.Answer{
			{Step: session.Block1, Index: n, Text: textOf(n), Message: 2*n - 1},
			{Step: session.Block1, Index: -n - 1, Text: textOf(n), Message: 2 * n},
		},
		Queue: &session.Queue{Step: session.Block1, Questions: []string{textOf(n)}, Cursor: n},
		Calls: []session.Call{{N: n, Step: session.Block1, Outcome: session.Accepted}},
	}
}

// textOf returns a text of its own for each n, of up to about 12 KB, so that some
// spread over several pages of a database.
func textOf(n int) string {
	return strings.Repeat(fmt.Sprintf("answer %d, ", n), 1+n*n%1000)
}

func listings(open opener) {
	It("lists sessions by creation, newest first", func(ctx SpecContext) {
		s := open(ctx)
		Expect(s.List(ctx, session.Listing{})).To(BeEmpty())
		for i := range 103 {
			n := session.Session{
				ID: fmt.Sprintf("%03d", i), Candidate: []string{"lea", "tom"}[i%2], Step: session.Block1,
				Created: start.Add(time.Duration(i) * time.Nanosecond),
			}
			Expect(s.Create(ctx, n, session.Change{Queue: &session.Queue{Step: session.Block1, Cursor: i}})).To(Succeed())
		}
		list := func(l session.Listing) (ids []string) {
			GinkgoHelper()
			found, err := s.List(ctx, l)
			Expect(err).NotTo(HaveOccurred())
			for _, n := range found {
				ids = append(ids, n.ID)
				Expect(n).To(BeComparableTo(load(ctx, s, n.ID)))
			}
			return ids
		}
		Expect(list(session.Listing{})).To(And(HaveLen(100), HaveEach(Not(Equal("002"))), ContainElement("003")))
		Expect(list(session.Listing{Limit: 3})).To(Equal([]string{"102", "101", "100"}))
		Expect(list(session.Listing{Limit: 500})).To(HaveLen(103))
		Expect(list(session.Listing{Limit: -1})).To(HaveLen(100))
		Expect(list(session.Listing{Limit: 2, Candidate: "tom"})).To(Equal([]string{"101", "099"}))
		Expect(list(session.Listing{Candidate: "to"})).To(BeEmpty())
		Expect(list(session.Listing{Candidate: "' OR 1=1 --"})).To(BeEmpty())
		Expect(list(session.Listing{Before: start.Add(2)})).To(Equal([]string{"001", "000"}))
		Expect(list(session.Listing{Before: start.Add(5), Candidate: "tom"})).To(Equal([]string{"003", "001"}))
	})

	It("orders by creation whatever the year and the zone", func(ctx SpecContext) {
		s := open(ctx)
		east := time.FixedZone("east", 9*3600)
		for i, created := range []time.Time{
			{}, time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), start.In(east).Add(-time.Hour), start, start.In(east).Add(time.Hour), start.AddDate(900, 0, 0),
		} {
			Expect(s.Create(ctx, session.Session{ID: fmt.Sprint(i), Candidate: "c", Step: session.Tone, Created: created}, session.Change{})).To(Succeed())
		}
		found, err := s.List(ctx, session.Listing{})
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(HaveExactElements(
			HaveField("ID", "5"), HaveField("ID", "4"), HaveField("ID", "3"), HaveField("ID", "2"), HaveField("ID", "1"), HaveField("ID", "0")))
	})
}

// hostile are texts that a store must return unchanged.
var hostile = []string{
	"'; DROP TABLE interview_sessions; --", `"quoted" 'twice' \back\ %s %d $1 ?`, "line\r\nline\ttab\x01\x1f\x7f",
	"nul \x00 inside", "\x00", "é e\u0301 ﷽ 🧱 👩‍👩‍👧 𝄞 \U0010ffff", "\u2028\u2029\ufeff\ufffd\u202e",
	"<script>alert(1)</script>&amp;", `{"json": "\u0000"}`, strings.Repeat("long 🧱 ", 150_000), "",
}

func hostileText(open opener) {
	It("returns any text unchanged", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		var c session.Change
		for i, text := range hostile {
			c.Messages = append(c.Messages, session.Message{Seq: i + 1, Step: session.Tone, Text: text})
			c.Answers = append(c.Answers, session.Answer{Step: session.Tone, Index: i, Message: i + 1, Text: text})
		}
		c.Queue = &session.Queue{Step: n.Step, Questions: hostile}
		c.Calls = []session.Call{{N: 1, Step: session.Tone, Detail: hostile[3], Warnings: hostile}}
		n.Works, n.CoreWork, n.Owed, n.Queue = hostile, hostile[3], &session.Owed{Complaint: hostile[3]}, c.Queue
		Expect(s.Commit(ctx, n, c)).To(BeEquivalentTo(2))
		n.Version = 2
		Expect(snapshot(ctx, s, "a")).To(BeComparableTo(everything{
			Session: n, Messages: c.Messages, Answers: c.Answers, Queues: []session.Queue{*c.Queue}, Calls: c.Calls,
		}))
	})

	It("returns any name unchanged", func(ctx SpecContext) {
		s := open(ctx)
		for i, name := range hostile {
			if name == "" || strings.Contains(name, "\x00") || len(name) > 512 {
				continue
			}
			Expect(s.Create(ctx, session.Session{ID: name, Candidate: name, Step: session.Tone}, session.Change{Submission: name})).
				To(Succeed(), "name %d", i)
			Expect(s.Submitted(ctx, name, name)).To(BeTrue())
			Expect(s.List(ctx, session.Listing{Candidate: name})).To(HaveExactElements(HaveField("ID", name)))
		}
	})

	DescribeTable("rejects values that it could not return",
		func(ctx SpecContext, text, reason string) {
			s := open(ctx)
			n := begin(ctx, s, "a")
			before := snapshot(ctx, s, "a")
			refused := func(n session.Session, c session.Change) {
				GinkgoHelper()
				_, err := s.Commit(ctx, n, c)
				Expect(err).To(MatchError(ContainSubstring(reason)))
				Expect(err).NotTo(Or(MatchError(session.ErrConflict), MatchError(session.ErrNotFound)))
				Expect(snapshot(ctx, s, "a")).To(BeComparableTo(before))
			}
			refused(n, session.Change{Submission: text})
			err := s.Create(ctx, session.Session{ID: text, Candidate: "c", Step: session.Tone}, session.Change{})
			Expect(err).To(MatchError(ContainSubstring(reason)))
			err = s.Create(ctx, session.Session{ID: "b", Candidate: text, Step: session.Tone}, session.Change{})
			Expect(err).To(MatchError(ContainSubstring(reason)))
			if reason == "not UTF-8" { // of other texts, this alone
				reason = "UTF-8"
				refused(n, session.Change{Messages: []session.Message{{Seq: 1, Step: session.Tone, Text: text}}})
				n.CoreWork = text
				refused(n, session.Change{})
			}
			Expect(s.List(ctx, session.Listing{})).To(HaveLen(1))
		},
		Entry("a name with NUL", "a\x00b", "NUL"),
		Entry("a name that is too long", strings.Repeat("a", 513), "513 bytes"),
		Entry("invalid UTF-8", "caf\xe9", "not UTF-8"),
	)
}

func cancellation(open opener) {
	It("does nothing for a context that has ended", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		before := snapshot(ctx, s, "a")
		ended, cancel := context.WithCancel(ctx)
		cancel()
		_, err := s.Commit(ended, n, stepOf(1))
		Expect(err).To(MatchError(context.Canceled))
		Expect(s.Create(ended, session.Session{ID: "b", Candidate: "c"}, session.Change{})).To(MatchError(context.Canceled))
		_, err = s.Load(ended, "a")
		Expect(err).To(MatchError(context.Canceled))
		_, err = s.Messages(ended, "a")
		Expect(err).To(MatchError(context.Canceled))
		_, err = s.Submitted(ended, "a", "x")
		Expect(err).To(MatchError(context.Canceled))
		_, err = s.List(ended, session.Listing{})
		Expect(err).To(MatchError(context.Canceled))
		Expect(snapshot(ctx, s, "a")).To(BeComparableTo(before))
		_, err = s.Load(ctx, "b")
		Expect(err).To(MatchError(session.ErrNotFound))
	})

	It("refuses to work once it is closed", func(ctx SpecContext) {
		s := open(ctx)
		n := begin(ctx, s, "a")
		Expect(s.Close()).To(Succeed())
		Expect(s.Close()).To(Succeed())
		_, err := s.Commit(ctx, n, session.Change{})
		Expect(err).To(HaveOccurred())
		Expect(err).NotTo(MatchError(session.ErrConflict))
		_, err = s.Load(ctx, "a")
		Expect(err).To(HaveOccurred())
	})
}
