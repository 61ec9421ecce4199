// Package journal stores a supervisor's state so that nothing is lost, however the
// process ends: an append-only file of records with checksums, and an atomic
// snapshot that replaces all records up to one.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Store keeps records and a snapshot. One process at a time holds it. Its methods
// are safe for concurrent use.
//
// A record is a text in one line, such as JSON as an encoder writes it: not empty,
// at most 4 MiB, and without control characters (those below a space). A
// snapshot and a blob are any bytes, at most 64 MiB of them.
type Store interface {
	// Load delivers the newest snapshot, if there is one, and then each record after it,
	// in order. It is called once, before any Append and Checkpoint. The data is valid
	// only until the callback returns.
	Load(snapshot func(data []byte) error, record func(data []byte) error) (Recovery, error)
	// Append adds records, all or none of which a later Load sees. When it returns nil
	// they are as durable as the store's options say. After an error the store holds what it
	// held before. Together the records have at most 16 MiB.
	Append(records ...[]byte) error
	// Checkpoint makes a snapshot that stands for all records so far. It brings every
	// record to the disk first. After an error the earlier snapshot stands.
	Checkpoint(snapshot []byte) error
	// Save keeps a named blob atomically, and Read returns it; fs.ErrNotExist if
	// there is none. Names match ^[a-z0-9][a-z0-9.-]{0,127}$.
	Save(name string, data []byte) error
	Read(name string) ([]byte, error)
	Close() error
}

// Recovery is the result of Load.
type Recovery struct {
	// Records is how many records there are in all, Replayed those after the snapshot.
	Records, Replayed int
	// Torn is how many bytes of an unfinished last record were cut off.
	Torn int
	// Snapshot reports whether there is one; SnapshotLost is the reason why a damaged one
	// could not be used (every record was replayed then).
	Snapshot     bool
	SnapshotLost string
}

// ErrBusy is, or is wrapped by, the error of a store that another process holds;
// the error's text names that process.
var ErrBusy = errors.New("another supervisor holds this state")

// ErrCorrupt is wrapped by the error of a journal that was changed: a record in
// its middle does not have its checksum, or is not in its place, or records are missing
// that a snapshot stands for. Nothing is cut then.
// Read wraps it for a blob that does not have its checksum.
var ErrCorrupt = errors.New("the state is corrupt")

// ErrClosed is wrapped by the errors of a store that was closed, or that another
// one took over.
var ErrClosed = errors.New("the journal is closed")

// What a store takes at most, in bytes.
const (
	maxRecord = 4 << 20
	maxAppend = 16 << 20 // all records of one Append
	maxBlob   = 64 << 20
)

var (
	errLoadFirst = errors.New("the journal must be loaded before it is written to")
	errLoaded    = errors.New("the journal was loaded already")
)

// checkRecords returns an error for records that cannot be stored.
func checkRecords(records [][]byte) error {
	total := 0
	for i, record := range records {
		total += len(record)
		switch {
		case len(record) == 0:
			return fmt.Errorf("record %d of %d is empty", i+1, len(records))
		case len(record) > maxRecord:
			return fmt.Errorf("record %d of %d has %d bytes; at most %d are kept", i+1, len(records), len(record), maxRecord)
		}
		for at, b := range record {
			if b < ' ' {
				return fmt.Errorf("record %d of %d has the control character %#02x at byte %d; write it as JSON in one line", i+1, len(records), b, at)
			}
		}
	}
	if total > maxAppend {
		return fmt.Errorf("%d records have %d bytes together; at most %d are kept at once", len(records), total, maxAppend)
	}
	return nil
}

func checkBlob(what string, data []byte) error {
	if len(data) > maxBlob {
		return fmt.Errorf("%s has %d bytes; at most %d are kept", what, len(data), maxBlob)
	}
	return nil
}

// checkName returns an error if name is not valid for a blob; Store has the rule.
func checkName(name string) error {
	ok := name != "" && len(name) <= 128 && name[0] != '.' && name[0] != '-'
	for _, b := range []byte(name) {
		ok = ok && (b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '.' || b == '-')
	}
	if !ok {
		return fmt.Errorf("%q cannot be a name: %w; use up to 128 of a to z, 0 to 9, point and hyphen, the first a letter or digit", name, fs.ErrInvalid)
	}
	return nil
}
