package journal_test

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

var errDisk = errors.New("the disk does not answer")

var _ = Describe("a disk that fails", func() {
	var m *machine
	BeforeEach(func() { m = newMachine() })

	// begun is a store on m that holds a record and a snapshot of it.
	begun := func(syncEvery int) *journal.Disk {
		GinkgoHelper()
		s := journal.On(m.disk(), syncEvery)
		Expect(readStore(s)).To(Equal(contents{}))
		Expect(s.Append([]byte("first"))).To(Succeed())
		Expect(s.Checkpoint([]byte("state"))).To(Succeed())
		return s
	}
	// after returns the records that a later process finds after the snapshot.
	after := func() []string {
		GinkgoHelper()
		found, err := readStore(journal.On(m.restart().disk(), 1))
		Expect(err).NotTo(HaveOccurred())
		Expect(found.State).To(Equal("state"))
		Expect(found.Torn).To(BeZero())
		return found.After
	}
	fails := func(f fault) {
		if f.times == 0 {
			f.times = 1
		}
		m.faults = append(m.faults, &f)
	}

	It("is full at each byte of an Append: the earlier records stay, and later ones fit again", func() {
		for keep := range 30 {
			m = newMachine()
			s := begun(1)
			fails(fault{op: "write", name: "journal", keep: keep, err: syscall.ENOSPC})
			err := s.Append([]byte("second"), []byte("third"))
			Expect(err).To(MatchError(syscall.ENOSPC))
			Expect(err).To(MatchError(ContainSubstring("free some space, or keep the state on another disk")))
			Expect(err).NotTo(MatchError(jsonl.ErrBroken))
			Expect(after()).To(BeEmpty())
			Expect(s.Append([]byte("fourth"))).To(Succeed())
			Expect(after()).To(Equal([]string{"fourth"}))
		}
	})

	It("writes less than it was given, and reports no error", func() {
		s := begun(1)
		fails(fault{op: "write", name: "journal", keep: 5})
		Expect(s.Append([]byte("second"))).To(MatchError(ContainSubstring("short write")))
		Expect(s.Append([]byte("third"))).To(Succeed())
		Expect(after()).To(Equal([]string{"third"}))
	})

	It("cannot take back what it wrote in part: no more records", func() {
		s := begun(1)
		fails(fault{op: "write", name: "journal", keep: 5, err: syscall.ENOSPC})
		fails(fault{op: "truncate", name: "journal", err: errDisk})
		err := s.Append([]byte("second"))
		Expect(err).To(MatchError(jsonl.ErrBroken))
		Expect(err).To(MatchError(And(ContainSubstring("no space left"), ContainSubstring("does not answer"), ContainSubstring("start again"))))
		Expect(s.Append([]byte("third"))).To(MatchError(jsonl.ErrBroken))
		Expect(s.Checkpoint([]byte("other state"))).To(MatchError(jsonl.ErrBroken))
		Expect(s.Close()).To(Succeed())

		By("cutting it off when it is opened anew")
		found, err := readStore(journal.On(m.disk(), 1))
		Expect(err).NotTo(HaveOccurred())
		Expect(found.Torn).To(Equal(5))
		Expect(found.After).To(BeEmpty())
		Expect(after()).To(BeEmpty())
	})

	DescribeTable("cannot be waited for: no more records, since a second wait could lie",
		func(syncEvery int, appends int) {
			s := begun(syncEvery)
			for range appends - 1 {
				Expect(s.Append([]byte("more"))).To(Succeed())
			}
			fails(fault{op: "sync", name: "journal", err: errDisk})
			Expect(s.Append([]byte("last"))).To(And(MatchError(jsonl.ErrBroken), MatchError(errDisk)))
			Expect(s.Append([]byte("later"))).To(MatchError(jsonl.ErrBroken))
			Expect(after()).To(HaveLen(appends - 1))
			Expect(after()).NotTo(ContainElement("last"))
		},
		Entry("with each record", 1, 1),
		Entry("with a group", 3, 3),
	)

	It("cannot be waited for at a snapshot of records that are not on the disk", func() {
		s := begun(64)
		Expect(s.Append([]byte("second"))).To(Succeed())
		fails(fault{op: "sync", name: "journal", err: errDisk})
		Expect(s.Checkpoint([]byte("later state"))).To(MatchError(jsonl.ErrBroken))
		Expect(after()).To(Equal([]string{"second"}))
	})

	DescribeTable("fails during a snapshot: the earlier one stands, and nothing is left lying about",
		func(f fault) {
			s := begun(1)
			Expect(s.Append([]byte("second"))).To(Succeed())
			fails(f)
			err := s.Checkpoint([]byte(strings.Repeat("later state ", 10)))
			Expect(err).To(MatchError(f.err))
			Expect(after()).To(Equal([]string{"second"}))
			Expect(m.names).To(HaveLen(2), "the part that nobody finishes takes up space")
			Expect(s.Append([]byte("third"))).To(Succeed())
			Expect(after()).To(Equal([]string{"second", "third"}))
			Expect(s.Checkpoint([]byte("state"))).To(Succeed())
			Expect(after()).To(BeEmpty())
		},
		Entry("no file can be made", fault{op: "open", name: "snapshot_partial", err: syscall.ENOSPC}),
		Entry("full at once", fault{op: "write", name: "snapshot_partial", err: syscall.ENOSPC}),
		Entry("full in its middle", fault{op: "write", name: "snapshot_partial", keep: 40, err: syscall.ENOSPC}),
		Entry("it cannot be waited for", fault{op: "sync", name: "snapshot_partial", err: errDisk}),
		Entry("it cannot be named", fault{op: "rename", name: "snapshot", err: errDisk}),
	)

	It("fails after a snapshot has its name: either one stands", func() {
		s := begun(1)
		fails(fault{op: "sync folder", name: ".", err: errDisk})
		Expect(s.Checkpoint([]byte("state"))).To(MatchError(errDisk))
		Expect(after()).To(BeEmpty())
	})

	DescribeTable("fails while a blob is saved: the earlier one stands",
		func(f fault) {
			s := begun(1)
			Expect(s.Save("context", []byte("earlier"))).To(Succeed())
			fails(f)
			err := s.Save("context", []byte("later"))
			Expect(err).To(MatchError(f.err))
			Expect(err).To(MatchError(ContainSubstring("save context in here")))
			Expect(s.Read("context")).To(BeEquivalentTo("earlier"))
			Expect(m.names).To(HaveLen(3))
			Expect(s.Save("context", []byte("later"))).To(Succeed())
			Expect(s.Read("context")).To(BeEquivalentTo("later"))
		},
		Entry("full", fault{op: "write", name: "saved/context_partial", keep: 3, err: syscall.ENOSPC}),
		Entry("it cannot be waited for", fault{op: "sync", name: "saved/context_partial", err: errDisk}),
		Entry("it cannot be named", fault{op: "rename", name: "saved/context", err: errDisk}),
	)

	It("has no room for the folder of blobs", func() {
		s := begun(1)
		fails(fault{op: "mkdir", name: "saved", err: syscall.ENOSPC})
		Expect(s.Save("context", nil)).To(MatchError(ContainSubstring("free some space")))
		Expect(s.Save("context", nil)).To(Succeed())
	})

	DescribeTable("fails while a state is loaded: nothing is added to what is not known",
		func(f fault) {
			begun(1)
			m.names["journal"].data = append(m.names["journal"].data, "torn"...)
			fails(f)
			s := journal.On(m.disk(), 1)
			_, err := readStore(s)
			Expect(err).To(MatchError(errDisk))
			Expect(err).To(MatchError(ContainSubstring("load the journal of here")))
			Expect(s.Append([]byte("x"))).To(MatchError(jsonl.ErrBroken))
			Expect(s.Checkpoint(nil)).To(MatchError(jsonl.ErrBroken))
			Expect(s.Close()).To(Succeed())
		},
		Entry("it cannot be read", fault{op: "open", name: "journal", err: errDisk}),
		Entry("it cannot be written", fault{op: "open", name: "journal", skip: 1, err: errDisk}),
		Entry("its torn end cannot be cut", fault{op: "truncate", name: "journal", err: errDisk}),
		Entry("the cut cannot be waited for", fault{op: "sync", name: "journal", err: errDisk}),
	)

	It("cannot be waited for at the end", func() {
		s := begun(64)
		Expect(s.Append([]byte("second"))).To(Succeed())
		fails(fault{op: "sync", name: "journal", err: errDisk})
		Expect(s.Close()).To(MatchError(errDisk))
	})

	DescribeTable("is waited for as often as it is opened for",
		func(syncEvery, want int) {
			s := begun(syncEvery)
			before := m.ops["sync journal"]
			for i := range 10 {
				Expect(s.Append(fmt.Append(nil, i), fmt.Append(nil, i))).To(Succeed())
			}
			Expect(m.ops["sync journal"] - before).To(Equal(want))
			Expect(m.ops["write journal"]).To(Equal(11), "one write for each Append")
			Expect(s.Checkpoint(nil)).To(Succeed())
			Expect(m.names["journal"].safe).To(Equal(m.names["journal"].data), "a snapshot waits for its records")
			Expect(s.Append([]byte("x"))).To(Succeed())
			Expect(s.Close()).To(Succeed())
			Expect(m.names["journal"].safe).To(Equal(m.names["journal"].data), "so does the end")
		},
		Entry("by each of ten calls", 1, 10),
		Entry("by one in four", 4, 2),
		Entry("by none of fewer calls", 64, 0),
	)
})
