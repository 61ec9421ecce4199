package store_test

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
)

var _ = Describe("in memory", func() {
	storeContract("SQLite 3.", func(SpecContext) string { return "memory:" })
})

var _ = Describe("in a file", func() {
	storeContract("SQLite 3.", file)
	processContract("SQLite 3.", file)
	upgradeContract("SQLite 3.", file)
})

var _ = Describe("on a server", func() {
	storeContract("PostgreSQL ", scratch)
	processContract("PostgreSQL ", scratch)
	upgradeContract("PostgreSQL ", scratch)
})

func file(SpecContext) string { return filepath.Join(GinkgoT().TempDir(), "sessions.db") }
