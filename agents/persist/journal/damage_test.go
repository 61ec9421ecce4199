package journal_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// sample returns a machine with three Appends, a snapshot after the second, and a blob.
func sample() *machine {
	GinkgoHelper()
	m := newMachine()
	s := journal.On(m.disk(), 1)
	_, err := readStore(s)
	Expect(err).NotTo(HaveOccurred())
	Expect(s.Append([]byte(`{"kind":"begin","plan":"demo"}`))).To(Succeed())
	Expect(s.Append([]byte(`{"kind":"outcome","task":"a"}`), []byte(`{"kind":"intent","task":"b"}`))).To(Succeed())
	Expect(s.Checkpoint([]byte("{\"tasks\":2}\n"))).To(Succeed())
	Expect(s.Append([]byte(`{"kind":"outcome","task":"b"}`))).To(Succeed())
	Expect(s.Save("context-1", []byte("main.go\n"))).To(Succeed())
	return m
}

// lines returns the lines of a journal, with their ends; the first is the header.
func lines(m *machine) [][]byte {
	return slices.Collect(bytes.Lines(bytes.Clone(m.names["journal"].data)))
}

var _ = Describe("the files of a state", func() {
	It("can be read by people", func() {
		m := sample()
		for name, file := range map[string]string{"journal": "journal", "snapshot": "snapshot", "saved/context-1": "blob"} {
			golden.Expect(file+".golden", m.names[name].data)
		}
	})
})

var _ = Describe("a journal that was cut", func() {
	It("is whole up to the last line that is, wherever it was cut", Label("P-05"), func() {
		all := lines(sample())
		counts := []int{0, 0, 1, 3, 4} // records of so many lines
		whole := bytes.Join(all, nil)
		for size := range len(whole) {
			m := newMachine()
			m.names["journal"] = &node{data: bytes.Clone(whole[:size])}
			n, length := 0, 0
			for n < len(all) && length+len(all[n]) <= size {
				length += len(all[n])
				n++
			}
			s := journal.On(m.disk(), 1)
			found, err := readStore(s)
			Expect(err).NotTo(HaveOccurred(), "cut to %d bytes", size)
			Expect(found.Records).To(Equal(counts[n]), "cut to %d bytes", size)
			Expect(found.Torn).To(Equal(size-length), "cut to %d bytes", size)
			Expect(m.names["journal"].data).To(Equal(whole[:max(length, len(journal.Header))]))
			Expect(s.Append([]byte("next"))).To(Succeed())
			found, err = readStore(journal.On(m.disk(), 1))
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Records).To(Equal(counts[n] + 1))
			Expect(found.Torn).To(BeZero())
		}
	})
})

var _ = Describe("a journal that was changed", func() {
	// refused loads a journal, and checks that it is refused and stays as it is.
	refused := func(data []byte, reason string) {
		GinkgoHelper()
		m := newMachine()
		m.names["journal"] = &node{data: bytes.Clone(data)}
		s := journal.On(m.disk(), 1)
		_, err := readStore(s)
		Expect(err).To(And(MatchError(journal.ErrCorrupt), MatchError(ContainSubstring(reason)), MatchError(ContainSubstring("nothing was cut"))))
		Expect(m.names["journal"].data).To(Equal(data))
		Expect(s.Append([]byte("x"))).To(MatchError(jsonl.ErrBroken))
	}

	It("is refused for any byte of all lines but the last", func() {
		all := lines(sample())
		numbers := []int{1, 1, 2, 4} // of the first record from a line on
		start := 0
		for i, line := range all[:len(all)-1] {
			for at := range line {
				for _, mask := range []byte{1, 0x20, 0xff} {
					data := bytes.Join(all, nil)
					data[start+at] ^= mask
					if bytes.HasPrefix(data, []byte("rehearse-journal/0:")) {
						continue // another version
					}
					refused(data, fmt.Sprintf("record %d, at byte %d: ", numbers[i], min(1, i)*start))
				}
			}
			start += len(line)
		}
	})

	It("loses its last line for any byte of that", func() {
		all := lines(sample())
		last := len(all) - 1
		before := len(bytes.Join(all[:last], nil))
		for at := range all[last] {
			data := bytes.Join(all, nil)
			data[before+at] ^= 1
			m := newMachine()
			m.names["journal"] = &node{data: data}
			found, err := readStore(journal.On(m.disk(), 1))
			Expect(err).NotTo(HaveOccurred())
			Expect(found.Records).To(Equal(3))
			Expect(found.Torn).To(Equal(len(all[last])))
			Expect(m.names["journal"].data).To(HaveLen(before))
		}
	})

	DescribeTable("is refused when its lines differ from the written ones",
		func(change func(all [][]byte) [][]byte, reason string) {
			refused(bytes.Join(change(lines(sample())), nil), reason)
		},
		Entry("one is missing", func(all [][]byte) [][]byte { return slices.Delete(all, 1, 2) }, "found record 2"),
		Entry("one is doubled", func(all [][]byte) [][]byte { return append(all, all[3]) }, "record 5, at byte"),
		Entry("two are exchanged", func(all [][]byte) [][]byte { all[1], all[2] = all[2], all[1]; return all }, "record 1, at byte"),
		Entry("the header is missing", func(all [][]byte) [][]byte { return all[1:] }, "first line is not the header of a journal"),
		Entry("it is another text", func([][]byte) [][]byte { return [][]byte{[]byte("notes of somebody\n")} }, "first line"),
		Entry("two became one", func(all [][]byte) [][]byte { all[2] = bytes.TrimRight(all[2], "\n"); return all }, "record 2, at byte"),
		Entry("a hole", func(all [][]byte) [][]byte { clear(all[2]); return all }, "record 2, at byte"),
	)

	It("is refused when another version wrote it", func() {
		m := newMachine()
		m.names["journal"] = &node{data: []byte("rehearse-journal/2: binary\n\x00\x01")}
		_, err := readStore(journal.On(m.disk(), 1))
		Expect(err).To(MatchError(And(ContainSubstring("format 2,"), ContainSubstring("the version that wrote it"))))
		Expect(m.names["journal"].data).To(HaveLen(29))
	})

	It("loses a last line of which the checksum is right and nothing else is", func() {
		for _, line := range []string{" 4 \n", " 4\n", " four {}\n", " \n"} {
			all := lines(sample())[:3]
			before := bytes.Join(all, nil)
			m := newMachine()
			m.names["journal"] = &node{data: summed(append(bytes.Join(all, nil), "00000000"+line...))}
			found, err := readStore(journal.On(m.disk(), 1))
			Expect(err).NotTo(HaveOccurred(), line)
			Expect(found.Records).To(Equal(3), line)
			Expect(m.names["journal"].data).To(Equal(before), line)
		}
	})

	It("is not read into memory for a line without end", func() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text := io.MultiReader(strings.NewReader(journal.Header), io.LimitReader(endless{}, 16*maxAppend))
		Expect(journal.Check(text)).To(BeZero())
		runtime.ReadMemStats(&after)
		Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 8*maxAppend))
	})
})

// endless is a text without lines.
type endless struct{}

var block = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(p []byte) (int, error) { return copy(p, block), nil }

var _ = Describe("a snapshot that cannot be used", func() {
	everything := []string{
		`{"kind":"begin","plan":"demo"}`, `{"kind":"outcome","task":"a"}`, `{"kind":"intent","task":"b"}`, `{"kind":"outcome","task":"b"}`,
	}
	replayed := func(m *machine, reason string) {
		GinkgoHelper()
		s := journal.On(m.disk(), 1)
		found, err := readStore(s)
		Expect(err).NotTo(HaveOccurred())
		Expect(found.SnapshotLost).To(ContainSubstring(reason))
		Expect(found.Snapshot).To(BeFalse())
		Expect(found.State).To(BeEmpty())
		Expect(found.After).To(HaveExactElements(everything[:found.Records]))
		Expect(found.Replayed).To(Equal(found.Records))
		Expect(s.Checkpoint([]byte("new"))).To(Succeed())
		found, err = readStore(journal.On(m.disk(), 1))
		Expect(err).NotTo(HaveOccurred())
		Expect(found.State).To(Equal("new"))
	}

	It("is left for any byte that was changed, and any that is missing", func() {
		size := len(sample().names["snapshot"].data)
		for at := range size {
			m := sample()
			m.names["snapshot"].data[at] ^= 1
			replayed(m, "its checksum does not match its")
			m = sample()
			m.names["snapshot"].data = m.names["snapshot"].data[:at]
			replayed(m, "its checksum does not match its")
		}
	})

	DescribeTable("is that of records which are gone: no crash leaves that, and it is refused",
		func(damage func(m *machine), reason string) {
			m := sample()
			damage(m)
			before := m.restart()
			s := journal.On(m.disk(), 1)
			_, err := readStore(s)
			Expect(err).To(And(MatchError(journal.ErrCorrupt), MatchError(ContainSubstring("the snapshot covers the records up to 3, but the journal "+reason))))
			Expect(s.Append([]byte("x"))).To(MatchError(jsonl.ErrBroken))
			for name, n := range m.names {
				Expect(n.data).To(Equal(before.names[name].data), name)
			}
			Expect(m.names).To(HaveLen(len(before.names)))
		},
		Entry("the journal is cut before it", func(m *machine) { m.names["journal"].data = bytes.Join(lines(m)[:2], nil) }, "ends at record 1;"),
		Entry("and torn there", func(m *machine) { m.names["journal"].data = append(bytes.Join(lines(m)[:2], nil), "torn"...) }, "ends at record 1;"),
		Entry("the journal is only its head", func(m *machine) { m.names["journal"].data = []byte(journal.Header) }, "ends at record 0;"),
		Entry("the journal is empty", func(m *machine) { m.names["journal"].data = nil }, "ends at record 0;"),
		Entry("the journal is gone", func(m *machine) { delete(m.names, "journal") }, "ends at record 0;"),
		Entry("it is that of another journal", func(m *machine) {
			other := newMachine()
			s := journal.On(other.disk(), 1)
			_, err := readStore(s)
			Expect(err).NotTo(HaveOccurred())
			Expect(s.Append(raw([]string{"a", "b", "c"})...)).To(Succeed())
			Expect(s.Checkpoint([]byte("other"))).To(Succeed())
			m.names["snapshot"] = other.names["snapshot"]
		}, "has other records;"),
	)

	It("is left when it is has more than", func() {
		m := sample()
		m.names["snapshot"].data = make([]byte, maxBlob+1024)
		replayed(m, "has more than")
	})

	It("is left when it is a blob", func() {
		m := sample()
		m.names["snapshot"] = m.names["saved/context-1"]
		replayed(m, "not a rehearse-snapshot/1")
	})
})

var _ = Describe("a blob that was changed", func() {
	It("is not handed over", func() {
		size := len(sample().names["saved/context-1"].data)
		for at := range size {
			m := sample()
			m.names["saved/context-1"].data[at] ^= 1
			_, err := journal.On(m.disk(), 1).Read("context-1")
			Expect(err).To(MatchError(journal.ErrCorrupt))
		}
	})

	It("is not that of another name", func() {
		m := sample()
		m.names["saved/context-2"] = m.names["saved/context-1"]
		_, err := journal.On(m.disk(), 1).Read("context-2")
		Expect(err).To(And(MatchError(journal.ErrCorrupt), MatchError(ContainSubstring(`saved as "context-1"`))))
	})
})
