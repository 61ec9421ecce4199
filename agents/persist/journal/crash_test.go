package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// life contains the operations of one process on a store, and their results.
type life struct {
	records   []string // acknowledged
	underway  []string // of the Append that was not
	snapshots []string // acknowledged, the last one perhaps not
	covers    []int    // records that each stands for
	blobs     []string
	acked     struct{ snapshots, blobs int }
	certain   int // records that were acknowledged when the disk was waited for
}

// live opens a store and uses it until that fails or there is no more to do.
func (l *life) live(m *machine, syncEvery int) error {
	s := journal.On(m.disk(), syncEvery)
	if _, err := readStore(s); err != nil {
		return err
	}
	waiting := 0
	for i := range 6 {
		l.underway = nil
		for j := range i%3 + 1 {
			l.underway = append(l.underway, fmt.Sprintf(`{"i":%d,"j":%d}`, i, j))
		}
		if err := s.Append(raw(l.underway)...); err != nil {
			return err
		}
		l.records, l.underway = append(l.records, l.underway...), nil
		if waiting++; waiting == syncEvery {
			l.certain, waiting = len(l.records), 0
		}
		if i%2 == 1 {
			l.snapshots, l.covers = append(l.snapshots, fmt.Sprint("state ", i)), append(l.covers, len(l.records))
			if err := s.Checkpoint([]byte(fmt.Sprint("state ", i))); err != nil {
				return err
			}
			l.acked.snapshots, l.certain, waiting = len(l.snapshots), len(l.records), 0
		}
		if i%3 == 0 {
			l.blobs = append(l.blobs, fmt.Sprint("blob ", i))
			if err := s.Save("context", []byte(fmt.Sprint("blob ", i))); err != nil {
				return err
			}
			l.acked.blobs = len(l.blobs)
		}
	}
	return s.Close()
}

// expectKept looks at what a machine holds of a life: at least so many records, all of
// an Append or none, the newest snapshot and blob; and that a next life can go on.
func (l *life) expectKept(m *machine, certain int) {
	GinkgoHelper()
	s := journal.On(m.disk(), 1)
	found, err := readStore(s)
	Expect(err).NotTo(HaveOccurred())
	Expect(found.SnapshotLost).To(BeEmpty())

	written := append(append([]string{}, l.records...), l.underway...)
	Expect(found.Records).To(BeNumerically(">=", certain), "what was acknowledged is lost")
	if found.Records > len(l.records) {
		Expect(found.Records).To(Equal(len(written)), "an Append is there in part")
	}
	covers := 0
	if found.Snapshot {
		i := len(l.snapshots) - 1
		if found.State != l.snapshots[i] {
			i--
		}
		Expect(i).To(BeNumerically(">=", l.acked.snapshots-1), "an earlier snapshot came back")
		Expect(found.State).To(Equal(l.snapshots[i]))
		covers = l.covers[i]
	} else {
		Expect(l.acked.snapshots).To(BeZero(), "the snapshot is lost")
	}
	Expect(append([]string{}, found.After...)).To(Equal(append([]string{}, written[covers:found.Records]...)))

	blob, err := s.Read("context")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		Expect(l.acked.blobs).To(BeZero(), "the blob is lost")
	default:
		Expect(err).NotTo(HaveOccurred())
		Expect(l.blobs[max(0, l.acked.blobs-1):]).To(ContainElement(string(blob)))
	}

	Expect(s.Append([]byte("next"))).To(Succeed())
	again, err := readStore(journal.On(m.restart().disk(), 1))
	Expect(err).NotTo(HaveOccurred())
	Expect(again.After).To(Equal(append(found.After, "next")))
	Expect(again.Torn).To(BeZero())
}

var _ = Describe("a process that ends at each byte and each operation", func() {
	// eachStep calls try with a life that ended at each of its steps.
	eachStep := func(syncEvery int, try func(l *life, m *machine)) {
		GinkgoHelper()
		whole, undisturbed := life{}, newMachine()
		Expect(whole.live(undisturbed, syncEvery)).To(Succeed())
		torn := 0
		for step := 1; step < undisturbed.steps; step++ {
			l, m := life{}, newMachine()
			m.dies = step
			Expect(l.live(m, syncEvery)).To(MatchError(errDead), "step %d", step)
			if len(l.underway) > 0 {
				torn++
			}
			try(&l, m)
		}
		Expect(torn).To(BeNumerically(">", 100), "hardly any stop was inside an Append")
		AddReportEntry("stops", fmt.Sprintf("%d, of which %d inside an Append", undisturbed.steps-1, torn), ReportEntryVisibilityAlways)
	}
	const always, group = 1, 4

	It("loses nothing when it is killed", Label("P-05"), func() {
		for _, syncEvery := range []int{always, group} {
			eachStep(syncEvery, func(l *life, m *machine) { l.expectKept(m.restart(), len(l.records)) })
		}
	})

	It("loses nothing when the power fails", Label("P-05"), func() {
		random := rand.New(rand.NewPCG(1, uint64(GinkgoRandomSeed())))
		eachStep(always, func(l *life, m *machine) {
			for range 4 {
				l.expectKept(m.powerCut(random), len(l.records))
			}
		})
	})

	It("loses at most what it did not wait for when the power fails", func() {
		random := rand.New(rand.NewPCG(2, uint64(GinkgoRandomSeed())))
		lost := 0
		eachStep(group, func(l *life, m *machine) {
			for range 4 {
				next := m.powerCut(random)
				found, err := readStore(journal.On(next.restart().disk(), 1))
				Expect(err).NotTo(HaveOccurred())
				if found.Records < len(l.records) {
					lost++
				}
				l.expectKept(next, l.certain)
			}
		})
		Expect(lost).To(BeNumerically(">", 0), "the disk was waited for always")
	})
})

func raw(texts []string) [][]byte {
	all := make([][]byte, len(texts))
	for i, text := range texts {
		all[i] = []byte(text)
	}
	return all
}
