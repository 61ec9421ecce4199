package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// load reads a store without changing it. It calls snapshot after it has found the records that the
// snapshot covers, and record after it has verified the line of the record.
func load(in files, snapshot, record func(data []byte) error) (Recovery, extent, error) {
	var found Recovery
	at, state, err := loadSnapshot(in)
	begin := func() error { return nil }
	switch {
	case err == nil:
		found.Snapshot = true
		begin = func() error { return snapshot(state) }
	case !errors.Is(err, fs.ErrNotExist):
		found.SnapshotLost = err.Error() // the journal has all records
	}
	end, err := replay(in, &found, at, begin, record)
	return found, end, err
}

// replay calls begin at the mark and delivers the records after it.
func replay(in files, found *Recovery, from mark, begin func() error, record func(data []byte) error) (extent, error) {
	f, err := openJournal(in)
	if err != nil {
		return extent{}, err
	}
	defer f.Close()
	now, reached := mark{}, false
	reach := func() (err error) {
		if !reached && now == from {
			reached, err = true, begin()
		}
		return err
	}
	end, err := scan(f, func(l line) error {
		if err := reach(); err != nil {
			return err
		}
		n, err := l.each(func(number int, data []byte) error {
			if !reached {
				return nil
			}
			found.Replayed++
			return record(data)
		})
		now = mark{records: now.records + n, sum: l.sum}
		return err
	})
	if err == nil {
		err = reach()
	}
	if err == nil && !reached {
		err = lost(from, end.mark)
	}
	found.Records, found.Torn = end.records, int(end.torn)
	return end, err
}

// lost returns the error for a journal without the records that a snapshot covers. A crash cannot cause
// that, because records are synced before a snapshot is saved.
func lost(from, end mark) error {
	what := fmt.Sprintf("ends at record %d", end.records)
	if end.records >= from.records {
		what = "has other records"
	}
	return fmt.Errorf("%w: the snapshot covers the records up to %d, but the journal %s; nothing was cut off: restore a copy of the folder",
		ErrCorrupt, from.records, what)
}

// openJournal opens the journal for reading. A missing journal is empty.
func openJournal(in files) (io.ReadCloser, error) {
	f, err := in.open(journalFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return f, err
}

// loadSnapshot returns the newest snapshot and its mark in the journal. The error is fs.ErrNotExist if
// there is no snapshot.
func loadSnapshot(in files) (at mark, state []byte, err error) {
	sealed, err := read(in, snapshotFile, maxBlob+256)
	if err != nil {
		return mark{}, nil, err
	}
	note, state, err := unseal(kindSnapshot, sealed)
	if err != nil {
		return mark{}, nil, err
	}
	at, err = parseMark(note)
	return at, state, err
}
