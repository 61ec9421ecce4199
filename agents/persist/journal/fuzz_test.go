package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// FuzzLoad loads whatever may stand in the files of a state. It must not panic; what it
// refuses it must leave as it is; and what it takes must go on: a record that is added is
// found by the next Load, after the earlier ones.
func FuzzLoad(f *testing.F) {
	valid := newMachine()
	s := journal.On(valid.disk(), 1)
	if _, err := readStore(s); err != nil {
		f.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return s.Append([]byte(`{"a":1}`)) },
		func() error { return s.Append([]byte(`{"b":2}`), []byte(`{"c":3}`)) },
		func() error { return s.Checkpoint([]byte("state")) },
		func() error { return s.Append([]byte(`{"d":4}`)) },
	} {
		if err := step(); err != nil {
			f.Fatal(err)
		}
	}
	text, snapshot := valid.names["journal"].data, valid.names["snapshot"].data
	f.Add(text, snapshot, false)
	f.Add(text[:len(text)-3], snapshot, false)
	f.Add(text, snapshot[:9], false)
	f.Add([]byte(journal.Header), []byte(nil), false)
	f.Add([]byte("rehearse-journal/9: x\n"), snapshot, false)
	f.Add(append(bytes.Clone(text), "00000000 5 \t\t\n"...), snapshot, true)
	f.Add(append(bytes.Clone(text), "00000000 1\n\x00\x00"...), []byte("00000000 rehearse-snapshot/1 records=-1 line=0\n"), true)

	f.Fuzz(func(t *testing.T, text, snapshot []byte, sums bool) {
		if sums {
			text, snapshot = summed(text), summed(snapshot)
		}
		m := newMachine()
		m.names["journal"] = &node{data: bytes.Clone(text)}
		m.names["snapshot"] = &node{data: snapshot}
		s := journal.On(m.disk(), 1)
		found, err := readStore(s)
		if err != nil {
			if !bytes.Equal(m.names["journal"].data, text) {
				t.Fatalf("refused with %v, and changed", err)
			}
			if err := s.Append([]byte("x")); !errors.Is(err, jsonl.ErrBroken) {
				t.Fatalf("a journal that was refused is added to: %v", err)
			}
			return
		}
		if found.Snapshot == (found.SnapshotLost != "") || found.Replayed != len(found.After) || found.Replayed > found.Records {
			t.Fatalf("contradicts itself: %+v", found)
		}
		if repaired := m.names["journal"].data; !bytes.HasPrefix(text, repaired) && string(repaired) != journal.Header {
			t.Fatalf("the repaired journal is not a prefix of the damaged one")
		}
		if err := s.Append([]byte("next")); err != nil {
			t.Fatal(err)
		}
		again, err := readStore(journal.On(m.restart().disk(), 1))
		if err != nil {
			t.Fatal(err)
		}
		if again.Torn != 0 || again.Records != found.Records+1 || again.State != found.State ||
			!slices.Equal(again.After, append(found.After, "next")) {
			t.Fatalf("found %+v, and after one more %+v", found, again)
		}
	})
}

// summed is text with right checksums: of the whole for a snapshot, and else on each
// line but the first.
func summed(text []byte) []byte {
	var all []byte
	if bytes.Contains(text, []byte(" rehearse-")) && len(text) > 8 {
		return fmt.Appendf(nil, "%08x%s", sumOf(text[9:]), text[8:])
	}
	for line := range bytes.Lines(text) {
		if body, whole := bytes.CutSuffix(line, []byte("\n")); whole && len(body) > 9 && len(all) > 0 {
			line = fmt.Appendf(nil, "%08x%s", sumOf(body[9:]), line[8:])
		}
		all = append(all, line...)
	}
	return all
}

func sumOf(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }
