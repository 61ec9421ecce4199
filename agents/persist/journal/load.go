package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// errUnreached ends a scan that was to find a snapshot's place and did not.
var errUnreached = errors.New("the journal does not reach the snapshot")

// load reads a store without changing it. The snapshot is handed over when the
// journal is known to have what it stands for, and each record when its line is
// known to be whole.
func load(in files, snapshot, record func(data []byte) error) (Recovery, extent, error) {
	at, state, lost, err := loadSnapshot(in)
	if err != nil {
		return Recovery{}, extent{}, err
	}
	found := Recovery{SnapshotLost: lost, Snapshot: state != nil}
	if state != nil {
		end, err := replay(in, &found, at, func() error { return snapshot(state) }, record)
		if !errors.Is(err, errUnreached) {
			return found, end, err
		}
		found = Recovery{SnapshotLost: fmt.Sprintf("it stands for %d records, which are not those of this journal", at.records)}
	}
	end, err := replay(in, &found, mark{}, func() error { return nil }, record)
	return found, end, err
}

// replay hands over what comes after a mark, once begin was called there.
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
		err = errUnreached
	}
	found.Records, found.Torn = end.records, int(end.torn)
	return end, err
}

// openJournal opens the journal to read it; one that is not there is empty.
func openJournal(in files) (io.ReadCloser, error) {
	f, err := in.open(journalFile, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return f, err
}

// loadSnapshot returns the newest snapshot and where in the journal it stands;
// state is nil if there is none, and lost says why one cannot be used.
func loadSnapshot(in files) (at mark, state []byte, lost string, err error) {
	sealed, err := read(in, snapshotFile, MaxBlob+256)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return mark{}, nil, "", nil
	case err != nil:
		return mark{}, nil, err.Error(), nil // the journal has all of it
	}
	note, data, err := unseal(kindSnapshot, sealed)
	if err == nil {
		at, err = parseMark(note)
	}
	if err != nil {
		return mark{}, nil, err.Error(), nil
	}
	return at, data, "", nil
}
