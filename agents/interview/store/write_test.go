package store_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("commits to a file that wait for one another", func() {
	var (
		s      *store.Store
		unlock func()
	)
	// Somebody else writes to the file, so that the first commit waits for it and
	// all others for the first.
	BeforeEach(func(ctx SpecContext) {
		path := filepath.Join(GinkgoT().TempDir(), "s.db")
		s = opened(ctx, path)
		for _, id := range []string{"first", "good", "stale", "twice", "huge", "last"} {
			Expect(s.Create(ctx, session.Session{ID: id, Candidate: "c", Step: session.Tone}, session.Change{Submission: "s1"})).To(Succeed())
		}
		other, err := sql.Open("sqlite", path+"?_txlock=immediate")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(other.Close)
		lock, err := other.BeginTx(context.Background(), nil)
		Expect(err).NotTo(HaveOccurred())
		unlock = func() { Expect(lock.Rollback()).To(Succeed()) }
	})

	commit := func(ctx context.Context, n session.Session, c session.Change) chan error {
		n.Step = session.Tone
		result := make(chan error, 1)
		go func() {
			_, err := s.Commit(ctx, n, c)
			result <- err
		}()
		return result
	}
	message := func(text string) session.Change {
		return session.Change{Submission: "s2", Messages: []session.Message{{Seq: 1, Step: session.Tone, Text: text}}}
	}
	It("succeed and fail independently", func(ctx SpecContext) {
		results := []chan error{
			commit(ctx, session.Session{ID: "first", Version: 1}, message("short")),
			commit(ctx, session.Session{ID: "good", Version: 1}, message("short")),
			commit(ctx, session.Session{ID: "stale", Version: 7}, message("short")),
			commit(ctx, session.Session{ID: "twice", Version: 1}, session.Change{
				Messages: message("short").Messages, Answers: []session.Answer{{Step: session.Tone}, {Step: session.Tone}},
			}),
			commit(ctx, session.Session{ID: "last", Version: 1}, message("short")),
		}
		unlock()
		for i, expected := range []error{nil, nil, session.ErrConflict, session.ErrConflict, nil} {
			var err error
			Eventually(results[i]).WithTimeout(time.Minute).Should(Receive(&err))
			if expected == nil {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(MatchError(expected))
			}
		}
		for id, version := range map[string]int64{"first": 2, "good": 2, "stale": 1, "twice": 1, "last": 2} {
			Expect(s.Load(ctx, id)).To(HaveField("Version", version), id)
			Expect(s.Messages(ctx, id)).To(HaveLen(int(version)-1), id)
		}
	})

	It("do not fail with a commit that the disk has no room for", func(ctx SpecContext) {
		store.DB(s).SetMaxOpenConns(1) // the limit is that of a connection
		_, err := store.DB(s).ExecContext(ctx, "PRAGMA max_page_count = 40")
		Expect(err).NotTo(HaveOccurred())
		results := []chan error{
			commit(ctx, session.Session{ID: "first", Version: 1}, message("short")),
			commit(ctx, session.Session{ID: "good", Version: 1}, message("short")),
			commit(ctx, session.Session{ID: "huge", Version: 1}, message(strings.Repeat("long", 100_000))),
			commit(ctx, session.Session{ID: "last", Version: 1}, message("short")),
		}
		unlock()
		for i, reason := range []string{"", "", "the disk is full", ""} {
			var err error
			Eventually(results[i]).WithTimeout(time.Minute).Should(Receive(&err))
			if reason == "" {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(MatchError(ContainSubstring(reason)))
			}
		}
		for id, version := range map[string]int64{"first": 2, "good": 2, "huge": 1, "last": 2} {
			Expect(s.Load(ctx, id)).To(HaveField("Version", version), id)
			Expect(s.Messages(ctx, id)).To(HaveLen(int(version)-1), id)
		}
	})

	It("are dropped if their context ends before they are written, without effect on others", func(ctx SpecContext) {
		leaving, leave := context.WithCancel(ctx)
		first := commit(leaving, session.Session{ID: "first", Version: 1}, message("short"))
		Eventually(func() bool { return store.Writing(s) }).WithTimeout(time.Minute).Should(BeTrue())
		good := commit(leaving, session.Session{ID: "good", Version: 1}, message("short"))
		last := commit(ctx, session.Session{ID: "last", Version: 1}, message("short"))
		leave()
		var err error
		Eventually(good).WithTimeout(time.Minute).Should(Receive(&err))
		Expect(err).To(MatchError(context.Canceled))
		Expect(first).NotTo(Receive(), "it is being written, and is not interrupted")
		unlock()
		for _, result := range []chan error{first, last} {
			Eventually(result).WithTimeout(time.Minute).Should(Receive(&err))
			Expect(err).NotTo(HaveOccurred())
		}
		for id, version := range map[string]int64{"first": 2, "good": 1, "last": 2} {
			Expect(s.Load(ctx, id)).To(HaveField("Version", version), id)
		}
	})

	It("report a file that another process locks", func(ctx SpecContext) {
		store.DB(s).SetMaxOpenConns(1)
		_, err := store.DB(s).ExecContext(ctx, "PRAGMA busy_timeout = 0")
		Expect(err).NotTo(HaveOccurred())
		_, err = s.Commit(ctx, session.Session{ID: "good", Version: 1, Step: session.Tone}, message("short"))
		Expect(err).To(MatchError(ContainSubstring("another program has locked the file; nothing was changed")))
		Expect(s.Load(ctx, "good")).To(HaveField("Version", int64(1)))
		unlock()
		Expect(s.Commit(ctx, session.Session{ID: "good", Version: 1, Step: session.Tone}, message("short"))).To(BeEquivalentTo(2))
	})
})
