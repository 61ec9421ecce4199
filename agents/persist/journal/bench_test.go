package journal_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

// record returns of the length of an outcome with an answer.
func record(i int) []byte {
	return fmt.Appendf(nil, `{"kind":"outcome","task":"task-%06d","grade":"done","answer":%q}`, i, strings.Repeat("It is in place. ", 30))
}

func loaded(b *testing.B, syncEvery int) *journal.Disk {
	b.Helper()
	s, err := journal.Open(b.TempDir(), syncEvery)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if _, err := s.Load(nil, nil); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkAppend is an outcome and the next intent that wait for the disk.
// BenchmarkAppendFloor writes the same bytes and waits as well.
func BenchmarkAppend(b *testing.B) {
	s := loaded(b, 1)
	b.SetBytes(int64(2 * len(record(0))))
	for i := 0; b.Loop(); i++ {
		if err := s.Append(record(i), record(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendFloor(b *testing.B) {
	f := plain(b)
	b.SetBytes(int64(2 * len(record(0))))
	for i := 0; b.Loop(); i++ {
		if _, err := f.Write(bytes.Join([][]byte{record(i), record(i), []byte("abcdef01 1234567 \n")}, nil)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
}

func plain(b *testing.B) *os.File {
	b.Helper()
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "plain"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = f.Close() })
	return f
}

// BenchmarkAppendGroup waits once for 64 calls. BenchmarkAppendGroupFloor writes the same bytes
// and waits as often.
func BenchmarkAppendGroup(b *testing.B) {
	s := loaded(b, 64)
	b.SetBytes(int64(2 * len(record(0))))
	for i := 0; b.Loop(); i++ {
		if err := s.Append(record(i), record(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendGroupFloor(b *testing.B) {
	f := plain(b)
	b.SetBytes(int64(2 * len(record(0))))
	for i := 1; b.Loop(); i++ {
		if _, err := f.Write(bytes.Join([][]byte{record(i), record(i), []byte("abcdef01 1234567 \n")}, nil)); err != nil {
			b.Fatal(err)
		}
		if i%64 == 0 {
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// large returns a folder with a journal of 100 MB.
func large(b *testing.B) (dir string, size int64) {
	b.Helper()
	dir = b.TempDir()
	s, err := journal.Open(dir, 1<<30)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Load(nil, nil); err != nil {
		b.Fatal(err)
	}
	for i := 0; size < 100<<20; i++ {
		data := record(i)
		if err := s.Append(data, data); err != nil {
			b.Fatal(err)
		}
		size += int64(2 * len(data))
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	return dir, info.Size()
}

// BenchmarkLoad opens a state with a journal of 100 MB and hands over all of its records.
// BenchmarkLoadFloor reads the file line by line and makes one checksum of each.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	dir, size := large(b)
	b.SetBytes(size)
	for b.Loop() {
		s, err := journal.Open(dir, 1)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		found, err := s.Load(nil, func(data []byte) error { n += len(data); return nil })
		if err != nil || found.Replayed == 0 || int64(n) < size*9/10 {
			b.Fatal(found, n, err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadFloor(b *testing.B) {
	dir, size := large(b)
	b.SetBytes(size)
	table := crc32.MakeTable(crc32.Castagnoli)
	for b.Loop() {
		f, err := os.Open(filepath.Join(dir, "journal"))
		if err != nil {
			b.Fatal(err)
		}
		in, sum := bufio.NewReaderSize(f, 256<<10), uint32(0)
		for err == nil {
			var line []byte
			line, err = in.ReadSlice('\n')
			sum ^= crc32.Checksum(line, table)
		}
		if !errors.Is(err, io.EOF) || sum == 0 {
			b.Fatal(sum, err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCheckpoint replaces a snapshot of 256 KB. BenchmarkCheckpointFloor writes, waits,
// renames and waits for the folder as well.
func BenchmarkCheckpoint(b *testing.B) {
	s := loaded(b, 1)
	data := bytes.Repeat([]byte("x"), 256<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := s.Checkpoint(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckpointFloor(b *testing.B) {
	dir := b.TempDir()
	data := bytes.Repeat([]byte("x"), 256<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := replaceFile(dir, data); err != nil {
			b.Fatal(err)
		}
	}
}

func replaceFile(dir string, data []byte) error {
	f, err := os.Create(filepath.Join(dir, "part"))
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, "part"), filepath.Join(dir, "whole")); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
