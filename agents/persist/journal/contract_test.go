package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// The limits that Store documents.
const (
	maxRecord = 4 << 20
	maxAppend = 16 << 20
	maxBlob   = 64 << 20
)

// place is where a spec keeps a store of its own.
type place interface {
	// Open opens the store, whatever became of the one that was opened before: that
	// one is closed, or left as by a process that was killed.
	Open() (journal.Store, error)
}

// storeContract registers what every store must do. The driver is its Go type, so that
// the specs cannot pass with another one.
func storeContract(driver string, fresh func() place) {
	Describe("the contract with "+driver, func() {
		open := opening(driver, fresh)
		It("is fulfilled by the store that is named", func() {
			AddReportEntry("the contract ran with", fmt.Sprintf("%T", open()), ReportEntryVisibilityAlways)
		})
		records(open)
		handing(open)
		snapshots(open)
		blobs(open)
		refusals(open)
		order(open)
	})
}

// opening opens the spec's own store again and again.
func opening(driver string, fresh func() place) opener {
	var p place
	BeforeEach(func() { p = fresh() })
	return func() journal.Store {
		GinkgoHelper()
		s, err := p.Open()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.Close)
		Expect(fmt.Sprintf("%T", s)).To(Equal(driver))
		return s
	}
}

// contents are the records that a Load returned.
type contents struct {
	journal.Recovery
	State string   // the snapshot
	After []string // the records that came after it
}

// readStore loads a store.
func readStore(s journal.Store) (found contents, err error) {
	found.Recovery, err = s.Load(
		func(data []byte) error { found.State = string(data); return nil },
		func(data []byte) error { found.After = append(found.After, string(data)); return nil },
	)
	return found, err
}

func read(s journal.Store) contents {
	GinkgoHelper()
	found, err := readStore(s)
	Expect(err).NotTo(HaveOccurred())
	return found
}

type opener func() journal.Store

func records(open opener) {
	It("is empty at first", func() {
		Expect(read(open())).To(Equal(contents{}))
	})

	It("hands over the records of all its processes in their order", func() {
		var want []string
		for process := range 4 {
			s := open()
			found := read(s)
			Expect(found.After).To(Equal(want))
			Expect(found.Recovery).To(Equal(journal.Recovery{Records: len(want), Replayed: len(want)}))
			for i := range 3 {
				group := []string{fmt.Sprintf(`{"process":%d}`, process), fmt.Sprintf(`{"i":%d}`, i), `"é` + strings.Repeat("x", i*100_000) + `"`}
				Expect(s.Append(raw(group)...)).To(Succeed())
				want = append(want, group...)
			}
		}
	})

	It("keeps what it was given, whatever becomes of that", func() {
		s := open()
		read(s)
		data := []byte(`"before"`)
		Expect(s.Append(data, data)).To(Succeed())
		copy(data, `"after!"`)
		Expect(read(open()).After).To(Equal([]string{`"before"`, `"before"`}))
	})

	It("adds nothing when there is nothing to add", func() {
		s := open()
		read(s)
		Expect(s.Append()).To(Succeed())
		Expect(read(open())).To(Equal(contents{}))
	})
}

func handing(open opener) {
	It("hands over data that may be changed", func() {
		s := open()
		read(s)
		Expect(s.Append([]byte(`1`))).To(Succeed())
		Expect(s.Checkpoint([]byte(`state`))).To(Succeed())
		Expect(s.Append([]byte(`2`))).To(Succeed())
		scribble := func(data []byte) error { clear(data); return nil }
		_, err := open().Load(scribble, scribble)
		Expect(err).NotTo(HaveOccurred())
		found := read(open())
		Expect(found.State).To(Equal("state"))
		Expect(found.After).To(Equal([]string{"2"}))
	})

	It("lets its reader read a blob, but add nothing yet", func() {
		s := open()
		read(s)
		Expect(s.Append([]byte("1"))).To(Succeed())
		Expect(s.Checkpoint([]byte("state"))).To(Succeed())
		Expect(s.Append([]byte("2"))).To(Succeed())
		Expect(s.Save("context", []byte("a.go"))).To(Succeed())
		s = open()
		handed := 0
		look := func([]byte) error {
			handed++
			Expect(s.Read("context")).To(BeEquivalentTo("a.go"))
			Expect(s.Append([]byte("3"))).To(MatchError(ContainSubstring("must be loaded before")))
			_, err := readStore(s)
			Expect(err).To(MatchError(ContainSubstring("loaded already")))
			return nil
		}
		_, err := s.Load(look, look)
		Expect(err).NotTo(HaveOccurred())
		Expect(handed).To(Equal(2))
	})

	It("returns the error of its reader", func() {
		s := open()
		read(s)
		Expect(s.Append([]byte(`1`), []byte(`2`), []byte(`3`))).To(Succeed())
		full := errors.New("full")
		taken := 0
		_, err := open().Load(nil, func(data []byte) error {
			if taken++; string(data) == "2" {
				return full
			}
			return nil
		})
		Expect(err).To(MatchError(full))
		Expect(err).To(MatchError(ContainSubstring("record 2")))
		Expect(taken).To(Equal(2), "nothing is handed over after an error")
	})
}

func snapshots(open opener) {
	It("hands over the newest snapshot and the records after it", func() {
		s := open()
		read(s)
		Expect(s.Checkpoint([]byte("nothing yet"))).To(Succeed())
		s = open()
		found := read(s)
		Expect(found).To(Equal(contents{Recovery: journal.Recovery{Snapshot: true}, State: "nothing yet"}))
		for i := 1; i <= 3; i++ {
			Expect(s.Append(raw([]string{"a", "b"})...)).To(Succeed())
			Expect(s.Checkpoint(fmt.Appendf(nil, "state %d\nin two lines", i))).To(Succeed())
		}
		Expect(read(open())).To(Equal(contents{
			Recovery: journal.Recovery{Records: 6, Snapshot: true}, State: "state 3\nin two lines",
		}))
		s = open()
		read(s)
		Expect(s.Append(raw([]string{"c", "d"})...)).To(Succeed())
		Expect(read(open())).To(Equal(contents{
			Recovery: journal.Recovery{Records: 8, Replayed: 2, Snapshot: true}, State: "state 3\nin two lines", After: []string{"c", "d"},
		}))
	})

	It("knows an empty snapshot from none", func() {
		s := open()
		read(s)
		Expect(s.Append([]byte("1"))).To(Succeed())
		Expect(s.Checkpoint(nil)).To(Succeed())
		Expect(read(open()).Recovery).To(Equal(journal.Recovery{Records: 1, Snapshot: true}))
	})
}

func blobs(open opener) {
	It("keeps blobs by their names", func() {
		s := open()
		_, err := s.Read("context-1")
		Expect(err).To(MatchError(fs.ErrNotExist))
		all := bytes.Repeat([]byte("any bytes \x00\n\t\xff"), 1000)
		Expect(s.Save("context-1", all)).To(Succeed())
		Expect(s.Save("context-2", nil)).To(Succeed())
		Expect(s.Save("journal", []byte("not the journal"))).To(Succeed())
		Expect(s.Save("context-3", []byte("first, and longer"))).To(Succeed())
		Expect(s.Save("context-3", []byte("second"))).To(Succeed())
		s = open()
		Expect(s.Read("context-1")).To(Equal(all))
		Expect(s.Read("context-2")).To(BeEmpty())
		Expect(s.Read("context-3")).To(BeEquivalentTo("second"))
		Expect(read(s)).To(Equal(contents{}))
	})

	DescribeTable("refuses a name that could be another file's",
		func(name string) {
			s := open()
			Expect(s.Save(name, nil)).To(MatchError(fs.ErrInvalid))
			_, err := s.Read(name)
			Expect(err).To(MatchError(fs.ErrInvalid))
		},
		Entry("none", ""), Entry("this folder", "."), Entry("its parent", ".."), Entry("a path", "a/b"),
		Entry("a path of another system", `a\b`), Entry("a way out", "../a"), Entry("a hidden file", ".a"),
		Entry("an option", "-a"), Entry("upper case", "A"), Entry("a file under way", "a_partial"),
		Entry("a NUL", "a\x00"), Entry("a stream", "a:b"), Entry("too long", strings.Repeat("a", 129)),
	)

	It("takes the longest name", func() {
		s := open()
		name := strings.Repeat("a.", 64)
		Expect(s.Save(name, []byte("x"))).To(Succeed())
		Expect(s.Read(name)).To(BeEquivalentTo("x"))
	})
}

func refusals(open opener) {
	DescribeTable("rejects records that it could not separate, all of an Append together",
		func(bad []byte, reason string) {
			s := open()
			read(s)
			Expect(s.Append([]byte("1"))).To(Succeed())
			Expect(s.Append([]byte("2"), bad)).To(MatchError(And(ContainSubstring("record 2 of 2"), ContainSubstring(reason))))
			Expect(s.Append([]byte("3"))).To(Succeed())
			Expect(read(open()).After).To(Equal([]string{"1", "3"}))
		},
		Entry("an empty one", []byte{}, "is empty"),
		Entry("two lines", []byte("a\nb"), "control character 0x0a at byte 1"),
		Entry("a tab", []byte("\ta"), "control character 0x09 at byte 0"),
		Entry("a NUL", []byte("a\x00"), "control character 0x00 at byte 1"),
		Entry("a large one", bytes.Repeat([]byte("x"), maxRecord+1), "at most 4194304"),
	)

	It("takes the largest records, and refuses more at once", func() {
		s := open()
		read(s)
		large := bytes.Repeat([]byte("x"), maxRecord)
		Expect(s.Append(large, large, large, large)).To(Succeed())
		Expect(s.Append(large, large, large, large, []byte("x"))).To(MatchError(ContainSubstring("at most 16777216")))
		Expect(read(open()).After).To(Equal([]string{string(large), string(large), string(large), string(large)}))
	})

	It("refuses a snapshot and a blob that are too large", func() {
		s := open()
		read(s)
		Expect(s.Checkpoint(make([]byte, maxBlob+1))).To(MatchError(ContainSubstring("at most 67108864")))
		Expect(s.Save("a", make([]byte, maxBlob+1))).To(MatchError(ContainSubstring("at most 67108864")))
		_, err := s.Read("a")
		Expect(err).To(MatchError(fs.ErrNotExist))
	})
}

func order(open opener) {
	It("is contents once, and before it is written to", func() {
		s := open()
		Expect(s.Append([]byte("1"))).To(MatchError(ContainSubstring("must be loaded before")))
		Expect(s.Checkpoint(nil)).To(MatchError(ContainSubstring("must be loaded before")))
		read(s)
		_, err := readStore(s)
		Expect(err).To(MatchError(ContainSubstring("loaded already")))
		Expect(s.Append([]byte("2"))).To(Succeed())
	})

	It("does nothing once it is closed", func() {
		s := open()
		read(s)
		Expect(s.Append([]byte("1"))).To(Succeed())
		Expect(s.Save("a", nil)).To(Succeed())
		Expect(s.Close()).To(Succeed())
		Expect(s.Close()).To(Succeed())
		Expect(s.Append([]byte("2"))).To(MatchError(journal.ErrClosed))
		Expect(s.Checkpoint(nil)).To(MatchError(journal.ErrClosed))
		Expect(s.Save("a", []byte("x"))).To(MatchError(journal.ErrClosed))
		_, err := s.Read("a")
		Expect(err).To(MatchError(journal.ErrClosed))
		_, err = readStore(s)
		Expect(err).To(MatchError(journal.ErrClosed))
		s = open()
		Expect(read(s).After).To(Equal([]string{"1"}))
		Expect(s.Read("a")).To(BeEmpty())
	})

	It("is used by several at once", func() {
		const writers, each = 8, 20
		s := open()
		read(s)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				defer GinkgoRecover()
				for i := range each {
					Expect(s.Append(raw([]string{fmt.Sprint(w), fmt.Sprint(i)})...)).To(Succeed())
					Expect(s.Save("shared", fmt.Append(nil, w, i))).To(Succeed())
					if i%5 == 0 {
						Expect(s.Checkpoint(nil)).To(Succeed())
					}
				}
			})
		}
		all.Wait()
		Expect(read(open()).Records).To(Equal(writers * each * 2))
	})
}
