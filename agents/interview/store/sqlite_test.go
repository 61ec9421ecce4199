package store_test

import (
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

var _ = Describe("a store in a file", func() {
	var folder string
	BeforeEach(func() { folder = GinkgoT().TempDir() })

	It("makes the file and its folder, for its owner alone", func(ctx SpecContext) {
		path := filepath.Join(folder, "new", "deep", "sessions.db")
		s := opened(ctx, path)
		Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{})).To(Succeed())
		for name, mode := range map[string]fs.FileMode{"": 0o600, "-wal": 0o600, "-shm": 0o600} {
			Expect(mustStat(path+name).Mode().Perm()).To(Equal(mode), path+name)
		}
		Expect(mustStat(filepath.Dir(path)).Mode().Perm()).To(Equal(fs.FileMode(0o700)))
	})

	DescribeTable("finds its data by any form of the file's name",
		func(ctx SpecContext, prefix, name string) {
			GinkgoT().Chdir(folder)
			s := opened(ctx, prefix+name)
			Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{})).To(Succeed())
			Expect(s.Close()).To(Succeed())
			Expect(name).To(BeAnExistingFile())
			n, err := opened(ctx, filepath.Join(folder, name)).Load(ctx, "a")
			Expect(err).NotTo(HaveOccurred())
			Expect(n.Candidate).To(Equal("c"))
			Expect(filepath.Glob("*")).To(HaveEach(HavePrefix(strings.Split(name, "/")[0])), "another file")
		},
		Entry("a path", "", "sessions.db"),
		Entry("an address", "sqlite:", "sessions.db"),
		Entry("a folder", "sqlite:", "a/b.db"),
		Entry("characters that an address gives a meaning", "", "50% #1?mode=memory&x=ü.db"),
		Entry("a space at the end", "sqlite:", "a "),
		Entry("a colon", "sqlite:", "c:d.db"),
	)

	It("waits for the disk with each commit", func(ctx SpecContext) {
		db := store.DB(opened(ctx, filepath.Join(folder, "s.db")))
		for pragma, value := range map[string]string{
			"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
		} {
			var got string
			Expect(db.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got)).To(Succeed())
			Expect(got).To(Equal(value), pragma)
		}
	})

	It("removes all of a session with it", func(ctx SpecContext) {
		s := opened(ctx, filepath.Join(folder, "s.db"))
		Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{
			Submission: "s", Messages: []session.Message{{Seq: 1, Step: session.Tone}},
		})).To(Succeed())
		_, err := store.DB(s).ExecContext(ctx, "DELETE FROM interview_sessions")
		Expect(err).NotTo(HaveOccurred())
		for _, table := range []string{"messages", "submissions"} {
			var rows int
			Expect(store.DB(s).QueryRowContext(ctx, "SELECT count(*) FROM interview_"+table).Scan(&rows)).To(Succeed())
			Expect(rows).To(BeZero(), table)
		}
	})

	DescribeTable("refuses a file that is something else, and leaves it alone",
		func(ctx SpecContext, make func(path string), reason string) {
			path := filepath.Join(folder, "s.db")
			make(path)
			before, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			_, err = store.Open(ctx, path)
			Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring(reason))))
			after, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(after).To(Equal(before))
		},
		Entry("a text", func(path string) {
			Expect(os.WriteFile(path, []byte("these are notes of somebody, longer than a header of SQLite would be, and precious"), 0o600)).To(Succeed())
		}, "not a SQLite database"),
		Entry("another program's database", func(path string) {
			raw(path, "CREATE TABLE songs (title TEXT)")
		}, "another program"),
		Entry("another program's database that is empty yet", func(path string) {
			raw(path, "PRAGMA application_id = 7")
		}, "another program"),
	)

	It("rejects data of a newer version", func(ctx SpecContext) {
		path := filepath.Join(folder, "s.db")
		Expect(opened(ctx, path).Close()).To(Succeed())
		raw(path, "INSERT INTO interview_schema (version_id, is_applied) VALUES (99, 1)")
		_, err := store.Open(ctx, path)
		Expect(err).To(MatchError(And(ContainSubstring("newer version"), ContainSubstring("schema 99"))))
	})

	DescribeTable("reports damaged data",
		func(ctx SpecContext, statement string) {
			s := opened(ctx, filepath.Join(folder, "s.db"))
			Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{
				Queue: &session.Queue{Step: session.Tone}, Messages: []session.Message{{Seq: 1, Step: session.Tone}},
			})).To(Succeed())
			_, err := store.DB(s).ExecContext(ctx, statement)
			Expect(err).NotTo(HaveOccurred())
			_, err = s.Load(ctx, "a")
			if err == nil {
				_, err = s.Messages(ctx, "a")
			}
			Expect(err).To(MatchError(And(ContainSubstring("session a"), ContainSubstring("decode the stored"))))
		},
		Entry("no JSON", "UPDATE interview_sessions SET body = '{'"),
		Entry("another type", `UPDATE interview_sessions SET body = '{"shown": "no"}'`),
		Entry("a step that there is not", `UPDATE interview_messages SET body = '{"step": "BLOC_77"}'`),
		Entry("nothing", "UPDATE interview_queues SET body = ''"),
		Entry("not UTF-8", `UPDATE interview_messages SET body = CAST(x'7b2274657874223a22ff227d' AS TEXT)`),
	)

	It("reports the missing part of a path", func(ctx SpecContext) {
		_, err := store.Open(ctx, folder)
		Expect(err).To(MatchError(And(ContainSubstring(folder), ContainSubstring("directory"))))
		file := filepath.Join(folder, "file")
		Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
		_, err = store.Open(ctx, filepath.Join(file, "s.db"))
		Expect(err).To(MatchError(ContainSubstring("not a directory")))
	})

	It("reports a full disk, and stores nothing of the step", func(ctx SpecContext) {
		s := opened(ctx, filepath.Join(folder, "s.db"))
		db := store.DB(s)
		db.SetMaxOpenConns(1) // the limit is that of a connection
		_, err := db.ExecContext(ctx, "PRAGMA max_page_count = 30")
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{})).To(Succeed())
		n := session.Session{ID: "a", Candidate: "c", Version: 1, Step: session.Tone}
		_, err = s.Commit(ctx, n, session.Change{Submission: "s", Messages: []session.Message{
			{Seq: 1, Step: session.Tone, Text: "short"}, {Seq: 2, Step: session.Tone, Text: string(make([]byte, 200_000))},
		}})
		Expect(err).To(MatchError(ContainSubstring("the disk is full; nothing was changed")))
		Expect(s.Messages(ctx, "a")).To(BeEmpty())
		Expect(s.Commit(ctx, n, session.Change{Submission: "s"})).To(BeEquivalentTo(2))
	})

	It("reports a file that cannot be written", func(ctx SpecContext) {
		s := opened(ctx, filepath.Join(folder, "s.db"))
		store.DB(s).SetMaxOpenConns(1)
		_, err := store.DB(s).ExecContext(ctx, "PRAGMA query_only = 1")
		Expect(err).NotTo(HaveOccurred())
		err = s.Create(ctx, session.Session{ID: "a", Candidate: "c", Step: session.Tone}, session.Change{})
		Expect(err).To(MatchError(ContainSubstring("must be writable")))
	})

	It("lets one process serve it under a name", func(ctx SpecContext) {
		path := filepath.Join(folder, "s.db")
		first, second := opened(ctx, path), opened(ctx, path)
		release, err := first.Claim(ctx, "../blue")
		Expect(err).NotTo(HaveOccurred())
		_, err = second.Claim(ctx, "../blue")
		Expect(err).To(beClaimed())
		Expect(err).To(MatchError(ContainSubstring(`"../blue"`)))
		other, err := second.Claim(ctx, "green")
		Expect(err).NotTo(HaveOccurred())
		Expect(release()).To(Succeed())
		again, err := second.Claim(ctx, "../blue")
		Expect(err).NotTo(HaveOccurred())
		Expect(again()).To(Succeed())
		Expect(other()).To(Succeed())
	})
})

func opened(ctx SpecContext, dsn string) *store.Store {
	GinkgoHelper()
	s, err := store.Open(ctx, dsn)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.Close)
	return s
}

// raw changes a database past the store.
func raw(path, statement string) {
	GinkgoHelper()
	db, err := sql.Open("sqlite", path)
	Expect(err).NotTo(HaveOccurred())
	_, err = db.Exec(statement)
	Expect(err).NotTo(HaveOccurred())
	Expect(db.Close()).To(Succeed())
}

func mustStat(path string) fs.FileInfo {
	GinkgoHelper()
	info, err := os.Stat(path)
	Expect(err).NotTo(HaveOccurred())
	return info
}
