package store_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/agents/interview/store/storetest"
)

var _ = Describe("in memory", func() {
	storetest.Contract("SQLite 3.", func(SpecContext) string { return "memory:" })
})

var _ = Describe("in a file", func() {
	storetest.Contract("SQLite 3.", file)
	storetest.Processes("SQLite 3.", file)
})

var _ = Describe("on a server", func() {
	storetest.Contract("PostgreSQL ", scratch)
	storetest.Processes("PostgreSQL ", scratch)
})

func file(SpecContext) string { return filepath.Join(GinkgoT().TempDir(), "sessions.db") }

// scratch is an empty schema on a real server.
func scratch(ctx SpecContext) string {
	GinkgoHelper()
	dsn, drop, err := store.Scratch(ctx, postgres(ctx))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(drop)
	return dsn
}

func postgres(SpecContext) string {
	dsn := os.Getenv("REHEARSE_TEST_POSTGRES")
	if dsn == "" {
		Skip("no server")
	}
	return dsn
}
