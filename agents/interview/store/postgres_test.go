package store_test

import (
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("a store on a server", func() {
	It("waits for the disk with each commit, whatever the role's settings", func(ctx SpecContext) {
		s := opened(ctx, with(scratch(ctx), "options", "-c synchronous_commit=off"))
		var setting string
		Expect(store.DB(s).QueryRowContext(ctx, "SHOW synchronous_commit").Scan(&setting)).To(Succeed())
		Expect(setting).To(Equal("on"))
	})

	It("calls it a conflict when the server does, at any isolation", func(ctx SpecContext) {
		s := opened(ctx, with(scratch(ctx), "default_transaction_isolation", "serializable"))
		Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{})).To(Succeed())
		for version := int64(1); version <= 10; version++ {
			var won, lost atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					n := session.Session{ID: "a", Version: version, Step: session.Tone}
					switch _, err := s.Commit(ctx, n, session.Change{}); {
					case err == nil:
						won.Add(1)
					case errors.Is(err, session.ErrConflict):
						lost.Add(1)
					}
				})
			}
			all.Wait()
			Expect([]int32{won.Load(), lost.Load()}).To(Equal([]int32{1, 7}))
		}
	})

	It("returns immediately after a conflict", func(ctx SpecContext) {
		dsn := scratch(ctx)
		one, other := opened(ctx, dsn), opened(ctx, dsn)
		n := session.Session{ID: "a", Candidate: "c", Step: session.Tone}
		Expect(one.Create(ctx, n, session.Change{Submission: "s"})).To(Succeed())
		n.Version = 1
		_, err := one.Commit(ctx, n, session.Change{Submission: "s"}) // fails once the row is locked
		Expect(err).To(MatchError(session.ErrConflict))
		Expect(other.Commit(ctx, n, session.Change{Submission: "t"})).To(BeEquivalentTo(2))
	}, SpecTimeout(time.Minute))

	It("works through a pooler that allows no prepared statements", func(ctx SpecContext) {
		s := opened(ctx, with(scratch(ctx), "default_query_exec_mode", "exec"))
		n := session.Session{ID: "a", Candidate: "c", Step: session.Tone, Works: []string{"'; --", "\x00"}}
		Expect(s.Create(ctx, n, session.Change{})).To(Succeed())
		n.Version = 1
		n.Queue = &session.Queue{Step: session.Tone, Questions: []string{"?"}}
		Expect(s.Commit(ctx, n, session.Change{Submission: "s", Queue: n.Queue})).To(BeEquivalentTo(2))
		_, err := s.Commit(ctx, n, session.Change{})
		Expect(err).To(MatchError(session.ErrConflict))
		n.Version = 2
		Expect(s.Load(ctx, "a")).To(BeComparableTo(n))
	})

	It("goes on when the server cut its connections", func(ctx SpecContext) {
		const name = "rehearse, to be cut"
		s := opened(ctx, with(scratch(ctx), "application_name", name))
		n := session.Session{ID: "a", Candidate: "c", Step: session.Tone}
		Expect(s.Create(ctx, n, session.Change{})).To(Succeed())
		killer := opened(ctx, server())
		for i := range 5 {
			var cut int
			Expect(store.DB(killer).QueryRowContext(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE application_name = $1`, name).Scan(&cut)).To(Succeed())
			Expect(cut).NotTo(BeZero())
			n.Version = int64(i + 1)
			_, err := s.Commit(ctx, n, session.Change{Submission: strings.Repeat("s", i+1)})
			if err != nil {
				Expect(err).NotTo(MatchError(session.ErrConflict))
				_, err = s.Commit(ctx, n, session.Change{Submission: strings.Repeat("s", i+1)})
			}
			Expect(err).NotTo(HaveOccurred())
			Expect(s.Load(ctx, "a")).To(HaveField("Version", BeEquivalentTo(i+2)))
		}
	})

	It("rejects a database that cannot store every text", func(ctx SpecContext) {
		u, err := url.Parse(scratch(ctx))
		Expect(err).NotTo(HaveOccurred())
		db := store.DB(opened(ctx, u.String()))
		name := "latin1_" + u.Query().Get("search_path")
		_, err = db.ExecContext(ctx, "CREATE DATABASE "+name+" ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			_, err := db.ExecContext(ctx, "DROP DATABASE "+name)
			Expect(err).NotTo(HaveOccurred())
		})
		u.Path = "/" + name
		_, err = store.Open(ctx, u.String())
		Expect(err).To(MatchError(And(ContainSubstring("LATIN1"), ContainSubstring("UTF8"))))
	})

	It("rejects data of a newer version", func(ctx SpecContext) {
		dsn := scratch(ctx)
		_, err := store.DB(opened(ctx, dsn)).ExecContext(ctx, "INSERT INTO interview_schema (version_id, is_applied) VALUES (99, true)")
		Expect(err).NotTo(HaveOccurred())
		_, err = store.Open(ctx, dsn)
		Expect(err).To(MatchError(And(ContainSubstring("newer version"), ContainSubstring("schema 99"))))
	})

	Describe("whose server is restarted", func() {
		// It waits until the connections have ended, which give their claims back.
		const cut = `SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE application_name = $1`
		var first, second *store.Store
		var release func() error
		n := session.Session{ID: "a", Candidate: "c", Step: session.Tone, Version: 1}
		BeforeEach(func(ctx SpecContext) {
			dsn := scratch(ctx)
			name := "rehearse, to be cut " + strings.ToLower(rand.Text())
			first, second = opened(ctx, with(dsn, "application_name", name)), opened(ctx, dsn)
			Expect(first.Create(ctx, n, session.Change{})).To(Succeed())
			var err error
			release, err = first.Claim(ctx, "blue")
			Expect(err).NotTo(HaveOccurred())
			var ended int
			Expect(store.DB(opened(ctx, server())).QueryRowContext(ctx, cut, name).Scan(&ended)).To(Succeed())
			Expect(ended).To(BeNumerically(">", 0))
		})

		// commit stores a step, again where the pool had a connection that was cut.
		commit := func(ctx SpecContext) error {
			var err error
			for range 4 {
				if _, err = first.Commit(ctx, n, session.Change{}); err == nil || strings.Contains(err.Error(), "another process serves it") {
					return err
				}
			}
			return err
		}

		It("takes its claim again before it writes", func(ctx SpecContext) {
			Expect(commit(ctx)).To(Succeed())
			_, err := second.Claim(ctx, "blue")
			Expect(err).To(beClaimed())
			Expect(release()).To(Succeed())
			again, err := second.Claim(ctx, "blue")
			Expect(err).NotTo(HaveOccurred())
			Expect(again()).To(Succeed())
		})

		It("writes nothing where another process has the name by then", func(ctx SpecContext) {
			other, err := second.Claim(ctx, "blue")
			Expect(err).NotTo(HaveOccurred())
			Expect(commit(ctx)).To(beClaimed())
			Expect(second.Load(ctx, "a")).To(HaveField("Version", BeEquivalentTo(1)))
			Expect(release()).To(Succeed(), "a claim that was lost is given up")
			Expect(other()).To(Succeed())
		})

		It("is released without an error", func() {
			Expect(release()).To(Succeed())
			Expect(first.Close()).To(Succeed())
		})
	})

	It("lets one process serve it under a name", func(ctx SpecContext) {
		dsn := scratch(ctx)
		first, second := opened(ctx, dsn), opened(ctx, dsn)
		release, err := first.Claim(ctx, "blue")
		Expect(err).NotTo(HaveOccurred())
		_, err = second.Claim(ctx, "blue")
		Expect(err).To(beClaimed())
		green, err := second.Claim(ctx, "green")
		Expect(err).NotTo(HaveOccurred())
		Expect(release()).To(Succeed())
		again, err := second.Claim(ctx, "blue")
		Expect(err).NotTo(HaveOccurred())
		Expect(again()).To(Succeed())
		_, err = first.Claim(ctx, "green")
		Expect(err).To(beClaimed(), "one release gave up another name")
		Expect(green()).To(Succeed())
	})

	DescribeTable("does not print the password when it cannot connect",
		func(ctx SpecContext, change func(u *url.URL)) {
			u, err := url.Parse(server())
			Expect(err).NotTo(HaveOccurred())
			change(u)
			_, err = store.Open(ctx, u.String())
			Expect(err).To(MatchError(ContainSubstring("open the store postgres://")))
			Expect(err.Error()).NotTo(ContainSubstring("s3cret"))
		},
		Entry("a wrong password", func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "s3cret") }),
		Entry("a host that does not answer", func(u *url.URL) {
			u.User, u.Host = url.UserPassword("u", "s3cret"), "127.0.0.1:1"
		}),
		Entry("a database that there is not", func(u *url.URL) {
			u.Path, u.RawQuery = "/none", u.RawQuery+"&passfile=s3cret"
		}),
	)
})

// with adds a setting to an address.
func with(dsn, key, value string) string {
	GinkgoHelper()
	u, err := url.Parse(dsn)
	Expect(err).NotTo(HaveOccurred())
	query := u.Query()
	query.Set(key, value)
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	return u.String()
}
