// Package journal stores the state of a supervisor durably: an append-only file of records with
// checksums, and a snapshot that replaces all records before it.
package journal

import (
	"errors"
	"fmt"
	"io/fs"
)

// Store stores records, a snapshot and named blobs for one process at a time. Its methods are
// safe for concurrent use.
//
// A record is a text on one line, such as JSON: not empty, at most 4 MiB, and without control
// characters (below a space). A snapshot and a blob are any bytes, at most 64 MiB.
type Store interface {
	// Load delivers the newest snapshot, if there is one, and then each record after it, in order.
	// It must be called once, before Append and Checkpoint. The data is only valid until the
	// callback returns.
	Load(snapshot func(data []byte) error, record func(data []byte) error) (Recovery, error)
	// Append adds all records or none. After an error the store is unchanged. Together the records
	// have at most 16 MiB.
	Append(records ...[]byte) error
	// Checkpoint syncs all records and then saves a snapshot that replaces them. After an error the
	// earlier snapshot is unchanged.
	Checkpoint(snapshot []byte) error
	// Save stores a named blob atomically, and Read returns it, or fs.ErrNotExist. Names match
	// ^[a-z0-9][a-z0-9.-]{0,127}$.
	Save(name string, data []byte) error
	Read(name string) ([]byte, error)
	Close() error
}

// Recovery is the result of Load.
type Recovery struct {
	// Records is the number of all records, Replayed the number of records after the snapshot.
	Records, Replayed int
	// Torn is the number of bytes of an incomplete last record, which were cut off.
	Torn int
	// Snapshot is true if a snapshot was used. SnapshotLost explains why a damaged snapshot could
	// not be used; then all records were replayed.
	Snapshot     bool
	SnapshotLost string
}

// ErrBusy is the error for a store that another process has locked. The wrapping error names the
// process.
var ErrBusy = errors.New("another supervisor holds this state")

// ErrCorrupt is the error for a journal or blob that was changed: a checksum does not match, a record
// is out of order, or records that a snapshot covers are missing. Nothing is cut off then.
var ErrCorrupt = errors.New("the state is corrupt")

// ErrClosed is the error for the use of a store that was closed or reopened.
var ErrClosed = errors.New("the journal is closed")

// The limits of a store, in bytes.
const (
	maxRecord = 4 << 20
	maxAppend = 16 << 20 // all records of one Append
	maxBlob   = 64 << 20
)

var (
	errLoadFirst = errors.New("the journal must be loaded before it is written to")
	errLoaded    = errors.New("the journal was loaded already")
)

func checkRecords(records [][]byte) error {
	total := 0
	for i, record := range records {
		total += len(record)
		switch {
		case len(record) == 0:
			return fmt.Errorf("record %d of %d is empty", i+1, len(records))
		case len(record) > maxRecord:
			return fmt.Errorf("record %d of %d has %d bytes; at most %d are allowed", i+1, len(records), len(record), maxRecord)
		}
		for at, b := range record {
			if b < ' ' {
				return fmt.Errorf("record %d of %d has the control character %#02x at byte %d; write it as JSON in one line",
					i+1, len(records), b, at)
			}
		}
	}
	if total > maxAppend {
		return fmt.Errorf("%d records have %d bytes together; at most %d are allowed", len(records), total, maxAppend)
	}
	return nil
}

func checkBlob(what string, data []byte) error {
	if len(data) > maxBlob {
		return fmt.Errorf("%s has %d bytes; at most %d are allowed", what, len(data), maxBlob)
	}
	return nil
}

// checkName validates the name of a blob.
func checkName(name string) error {
	ok := name != "" && len(name) <= 128 && name[0] != '.' && name[0] != '-'
	for _, b := range []byte(name) {
		ok = ok && (b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '.' || b == '-')
	}
	if !ok {
		return fmt.Errorf("%q is not a valid name: %w; use up to 128 characters of a to z, 0 to 9, '.' and '-', and begin with a letter or digit",
			name, fs.ErrInvalid)
	}
	return nil
}
