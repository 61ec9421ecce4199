// Package journal keeps a supervisor's state so that nothing is lost, however the
// process ends: an append-only file of records with checksums, and an atomic
// snapshot that stands for all records up to one.
package journal

import "errors"

// Store keeps records and a snapshot. One process at a time holds it. Its methods
// are safe for concurrent use.
type Store interface {
	// Load hands over the newest snapshot, if there is one, and then each record
	// that came after it, in order. It is called once, before anything else.
	Load(snapshot func(data []byte) error, record func(data []byte) error) (Recovery, error)
	// Append adds records, all or none of which a later Load sees. When it returns nil
	// they are as durable as the store's options say. After an error the store holds what it
	// held before.
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

// Recovery says what Load found.
type Recovery struct {
	// Records is how many records there are in all, Replayed those after the snapshot.
	Records, Replayed int
	// Torn is how many bytes of an unfinished last record were cut off.
	Torn int
	// Snapshot says whether there is one; SnapshotLost why one that was there could not be used
	// (every record was replayed then).
	Snapshot     bool
	SnapshotLost string
}

// ErrBusy is, or is wrapped by, the error of a store that another process holds;
// the error's text names that process.
var ErrBusy = errors.New("another supervisor holds this state")

// ErrCorrupt is wrapped by the error of a journal that was changed: a record in
// its middle does not have its checksum. Nothing is cut then.
var ErrCorrupt = errors.New("the journal is corrupt")
