package store_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// kills registers the spec that kills writers. REHEARSE_KILLS is the number of kills;
// default 20.
func kills(driver string, fresh freshDSN) {
	It("loses nothing when writers are killed with "+driver, Label("I-03"), func(ctx SpecContext) {
		dsn := fresh(ctx)
		random := rand.New(rand.NewPCG(1, uint64(GinkgoRandomSeed())))
		var acknowledged int64
		var unheard, early int
		for range killCount() {
			heard := killOne(ctx, dsn, random, acknowledged)
			if heard == acknowledged {
				early++
			}
			s := openStore(ctx, driver, dsn)
			stored := expectWhole(ctx, s)
			Expect(s.Close()).To(Succeed())
			Expect(stored).To(BeNumerically(">=", heard), "an answer that was stored is lost")
			if stored > heard && heard > 0 {
				unheard++
			}
			acknowledged = max(heard, stored)
		}
		AddReportEntry("killed writers with "+driver, fmt.Sprintf(
			"%d kills, %d versions stored; %d kills hit before the first acknowledgement, %d between a commit and its own",
			killCount(), acknowledged, early, unheard), ReportEntryVisibilityAlways)
	})
}

func killCount() int {
	if n, err := strconv.Atoi(os.Getenv("REHEARSE_KILLS")); err == nil && n > 0 {
		return n
	}
	return 20
}

// killOne starts a writer, kills it at a random instant and returns the last
// version that it acknowledged, or before. The instant is a number of acknowledgements
// followed by a number of rounds of work; a commit takes hundreds or thousands of rounds.
func killOne(ctx SpecContext, dsn string, random *rand.Rand, before int64) int64 {
	GinkgoHelper()
	c := startChild(ctx, dsn, 0)
	heard := before
	for range random.IntN(8) {
		version, ok := c.next()
		Expect(ok).To(BeTrue(), "the writer ended by itself: %s", &c.stderr)
		Expect(version).To(BeNumerically(">", heard))
		heard = version
	}
	var work [sha256.Size]byte
	for range random.IntN(20_000) {
		work = sha256.Sum256(work[:])
	}
	Expect(c.cmd.Process.Kill()).To(Succeed()) // SIGKILL
	for version, ok := c.next(); ok; version, ok = c.next() {
		heard = version // acknowledged before it died
	}
	Expect(c.cmd.Wait()).To(MatchError(ContainSubstring("killed")), c.stderr.String())
	return heard
}
