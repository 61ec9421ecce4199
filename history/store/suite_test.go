package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/database"
)

func TestStore(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "history store")
}

var _ = Describe("in memory", func() { contract("SQLite 3.", func(SpecContext) string { return "memory:" }) })

var _ = Describe("in a file", func() {
	contract("SQLite 3.", file)
	sharedContract("SQLite 3.", file)
})

var _ = It("reads the runs of a history without kinds", Label("H-04"), func(ctx SpecContext) {
	path := filepath.Join(GinkgoT().TempDir(), "history.db")
	first, err := os.ReadFile("migrations/sqlite/00001_runs.sql")
	Expect(err).NotTo(HaveOccurred())
	db, err := database.OpenSQLite(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(database.Migrate(ctx, db, false, fstest.MapFS{"00001_runs.sql": {Data: first}}, "history_schema")).To(Succeed())
	_, err = db.ExecContext(ctx, `PRAGMA application_id = 0x72686873; INSERT INTO history_runs VALUES
		(1, 'r0123456789ab', 5, 5, 5, '', '', 'main', 0, '', '', 'pass', 1, 0, 0, 0, 1, NULL, '{"id": "r0123456789ab"}')`)
	Expect(err).NotTo(HaveOccurred())
	Expect(db.Close()).To(Succeed())
	s := opened(ctx, "SQLite 3.", path)
	Expect(s.Runs(ctx, history.Filter{})).To(HaveExactElements(history.Run{ID: "r0123456789ab", Kind: history.Plain}))
})

var _ = Describe("on a server", func() {
	contract("PostgreSQL ", scratch)
	sharedContract("PostgreSQL ", scratch)
	It("corrects the time of a machine whose clock is wrong", Label("H-04"), func(ctx SpecContext) {
		s := opened(ctx, "PostgreSQL ", scratch(ctx)) // the machine's clock is that of the specs
		e := entry(1, "a")
		e.Began = now().Add(-time.Minute)
		Expect(s.Add(ctx, &e, true)).To(BeTrue())
		var real time.Time
		Expect(store.DB(s).QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&real)).To(Succeed())
		Expect(real.Sub(e.At)).To(BeNumerically("~", time.Minute, 30*time.Second))
		Expect(e.Began).To(Equal(now().Add(-time.Minute)))
	})
})

func file(SpecContext) string { return filepath.Join(GinkgoT().TempDir(), "new", "history.db") }

// scratch returns an empty schema on the server that REHEARSE_TEST_POSTGRES names; without one the
// spec is skipped.
func scratch(ctx SpecContext) string {
	GinkgoHelper()
	server := os.Getenv("REHEARSE_TEST_POSTGRES")
	if server == "" {
		Skip("REHEARSE_TEST_POSTGRES names no server")
	}
	dsn, drop, err := database.Scratch(ctx, server)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(drop)
	return dsn
}
