package store_test

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"

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
