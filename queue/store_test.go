package queue

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/database"
)

var _ = Describe("a queue on a server", Label("H-04"), func() {
	var dsn string
	BeforeEach(func(ctx SpecContext) {
		server := os.Getenv("REHEARSE_TEST_POSTGRES")
		if server == "" {
			Skip("REHEARSE_TEST_POSTGRES names no server")
		}
		var drop func() error
		var err error
		dsn, drop, err = database.Scratch(ctx, server)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(drop)
	})
	opened := func(ctx SpecContext) *Store {
		GinkgoHelper()
		s, err := Open(ctx, dsn, 1)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.Close)
		return s
	}
	plan := Plan{Header: record.Run{ID: "0123", Trials: 2}, Scenarios: []Scenario{{Name: "a", Trials: 2}}}
	options := Options{Program: "p", Lease: time.Second, Clock: clock.Real(), Log: func(string) {}}

	It("can be opened again and again", func(ctx SpecContext) {
		opened(ctx)
		Expect(opened(ctx).Status(ctx)).To(Equal(Status{Schema: StatusSchema, Runs: []RunStatus{}, Workers: []WorkerStatus{}}))
	})

	It("is refused if a newer program wrote it", func(ctx SpecContext) {
		s := opened(ctx)
		_, err := s.pool.Exec(ctx, "INSERT INTO queue_schema (version_id, is_applied) VALUES (99, true)")
		Expect(err).NotTo(HaveOccurred())
		_, err = Open(ctx, dsn, 1)
		Expect(err).To(MatchError(ContainSubstring("a newer version of this program wrote it (schema 99; this one knows 2)")))
	})

	It("is refused if River's tables are newer", func(ctx SpecContext) {
		s := opened(ctx)
		_, err := s.pool.Exec(ctx, "INSERT INTO river_migration (line, version) VALUES ('main', 999)")
		Expect(err).NotTo(HaveOccurred())
		_, err = Open(ctx, dsn, 1)
		Expect(err).To(MatchError(ContainSubstring("which a newer version of this program may have written: migration 999 not found")))
	})

	It("that is read-only is named so, for tables and for runs", func(ctx SpecContext) {
		readOnly := dsn + "&default_transaction_read_only=on"
		_, err := Open(ctx, readOnly, 1)
		Expect(err).To(MatchError(ContainSubstring("the server is read-only")))
		opened(ctx) // now there are tables
		s, err := Open(ctx, readOnly, 1)
		if err == nil {
			defer s.Close()
			_, err = s.Coordinate(ctx, plan, options)
		}
		Expect(err).To(MatchError(ContainSubstring("the server is read-only")))
	})

	It("has no password in what it stores and prints", func(ctx SpecContext) {
		config, err := database.ParsePostgres(dsn)
		Expect(err).NotTo(HaveOccurred())
		Expect(config.Password).NotTo(BeEmpty())
		s := opened(ctx)
		c, err := s.Coordinate(ctx, plan, options)
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() (n int) {
			Expect(s.pool.QueryRow(ctx, "SELECT count(*) FROM block").Scan(&n)).To(Succeed())
			return n
		}).Should(BeNumerically(">", 0))
		var stored string
		Expect(s.pool.QueryRow(ctx, "SELECT (SELECT string_agg(r::text, '') FROM run r) || (SELECT string_agg(j::text, '') FROM river_job j)").
			Scan(&stored)).To(Succeed())
		Expect(stored).To(ContainSubstring(c.Key()))
		Expect(stored).NotTo(ContainSubstring(config.Password))
		Expect(s.name).NotTo(ContainSubstring(config.Password))
		Expect(c.Close(ctx, false)).To(Succeed())
	})

	It("has one coordinator of a run at a time, and can be resumed, cancelled and pruned", func(ctx SpecContext) {
		s := opened(ctx)
		first, err := s.Coordinate(ctx, plan, options)
		Expect(err).NotTo(HaveOccurred())
		again := options
		again.Resume = first.Key()
		_, err = s.Coordinate(ctx, plan, again)
		Expect(err).To(MatchError(ContainSubstring("another coordinator runs " + first.Key())))
		Expect(first.Close(ctx, false)).To(Succeed())

		other := plan
		other.Header.ID = "4567"
		_, err = s.Coordinate(ctx, other, again)
		Expect(err).To(MatchError(ContainSubstring("has other scenarios, trials, labels or prices")))
		program := again
		program.Program = "q"
		_, err = s.Coordinate(ctx, plan, program)
		Expect(err).To(MatchError(ContainSubstring("was begun by another build")))
		unknown := again
		unknown.Resume = "none"
		_, err = s.Coordinate(ctx, plan, unknown)
		Expect(err).To(MatchError(ContainSubstring(`there is no run "none"`)))

		second, err := s.Coordinate(ctx, plan, again)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Cancel(ctx, first.Key())).To(Succeed())
		Eventually(second.Err).WithTimeout(10 * time.Second).Should(MatchError(errCancelled))
		Expect(second.Close(ctx, false)).To(Succeed())
		Expect(s.Cancel(ctx, first.Key())).To(MatchError(ContainSubstring("there is no unfinished run")))
		status, err := s.Status(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(status.Runs).To(HaveLen(1))
		Expect(status.Runs[0].State).To(Equal("cancelled"))
		Expect(s.Prune(ctx, time.Hour)).To(BeZero())
		Expect(s.Prune(ctx, 0)).To(Equal(1))
	})

	It("takes a run over from a coordinator that lost its lock, which then ends", func(ctx SpecContext) {
		s := opened(ctx)
		first, err := s.Coordinate(ctx, plan, options)
		Expect(err).NotTo(HaveOccurred())
		_, err = s.pool.Exec(ctx, "SELECT pg_terminate_backend($1)", first.lock.Conn().PgConn().PID())
		Expect(err).NotTo(HaveOccurred())
		again := options
		again.Resume = first.Key()
		var second *Coordinator
		Eventually(func() error {
			second, err = s.Coordinate(ctx, plan, again)
			return err
		}).Should(Succeed())
		Eventually(first.Err).WithTimeout(10 * time.Second).Should(MatchError(errTaken))
		Expect(first.Close(ctx, true)).To(Succeed()) // must not end the run of the second
		status, err := s.Status(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(status.Runs[0].State).To(Equal("running"))
		Expect(second.Close(ctx, true)).To(Succeed())
	})

	// refuse makes the server fail each update of a table with an error of PostgreSQL, as a full disk does.
	refuse := func(ctx SpecContext, s *Store, table, condition string) {
		GinkgoHelper()
		_, err := s.pool.Exec(ctx, fmt.Sprintf(`
			CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '%s'; END $$;
			CREATE TRIGGER refuse BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION refuse()`, condition, table))
		Expect(err).NotTo(HaveOccurred())
	}

	It("that stays full ends the run, which can be resumed", func(ctx SpecContext) {
		s := opened(ctx)
		impatient := options
		impatient.Patience = time.Nanosecond // it still tries once more
		var mu sync.Mutex
		var log []string
		impatient.Log = func(message string) {
			mu.Lock()
			defer mu.Unlock()
			if !strings.HasPrefix(message, "no worker is there") { // after 4 s
				log = append(log, message)
			}
		}
		c, err := s.Coordinate(ctx, plan, impatient)
		Expect(err).NotTo(HaveOccurred())
		refuse(ctx, s, "run", "disk_full")
		Eventually(c.Err).WithTimeout(time.Minute).Should(MatchError(ContainSubstring("the disk of the server is full")))
		_, _, err = c.Trial(ctx, 0, 1)
		Expect(err).To(MatchError(ContainSubstring("the disk of the server is full")))
		Expect(c.Close(ctx, false)).To(MatchError(ContainSubstring("end the run in the queue")))
		mu.Lock()
		defer mu.Unlock()
		Expect(log).To(HaveExactElements(ContainSubstring("the queue cannot be used, trying again: the disk of the server is full")))

		_, err = s.pool.Exec(ctx, "DROP FUNCTION refuse CASCADE")
		Expect(err).NotTo(HaveOccurred())
		again := options
		again.Resume = c.Key()
		c, err = s.Coordinate(ctx, plan, again)
		Expect(err).NotTo(HaveOccurred())
		Expect(c.Close(ctx, false)).To(Succeed())
	})

	It("may have any schema of one plain name", func(ctx SpecContext) {
		Expect(strings.Contains(dsn, "search_path=rehearse_")).To(BeTrue())
		Expect(opened(ctx).schema).To(HavePrefix("rehearse_"))
	})
})
