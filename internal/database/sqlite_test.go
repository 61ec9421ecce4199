package database_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// TestWhileBusy writes to a file that another connection locks until the second try.
func TestWhileBusy(t *testing.T) {
	g := gomega.NewWithT(t)
	path := filepath.Join(t.TempDir(), "x.db")
	other, err := database.OpenSQLite(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lock, err := other.BeginTx(t.Context(), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	db, err := database.OpenSQLite(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())

	tries, slept := 0, time.Duration(0)
	sleep := func(_ context.Context, d time.Duration) error { slept += d; return nil }
	g.Expect(database.WhileBusy(t.Context(), sleep, func() error {
		if tries++; tries == 2 {
			g.Expect(lock.Rollback()).To(gomega.Succeed())
		}
		_, err := db.ExecContext(t.Context(), "CREATE TABLE x (n)")
		return err
	})).To(gomega.Succeed())
	g.Expect(tries).To(gomega.Equal(2))
	g.Expect(slept).To(gomega.Equal(100 * time.Millisecond))

	tries = 0
	wrong := errors.New("wrong")
	g.Expect(database.WhileBusy(t.Context(), sleep, func() error { tries++; return wrong })).To(gomega.MatchError(wrong))
	g.Expect(tries).To(gomega.Equal(1), "other errors end it")
	g.Expect(errors.Join(db.Close(), other.Close())).To(gomega.Succeed())
}
