package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// Disk is a Store in a folder with a journal, a snapshot, blobs and a lock. The journal is text.
type Disk struct {
	path      string
	syncEvery int
	files     files
	release   func() error // releases the lock of the folder

	mu      sync.Mutex
	loaded  bool
	journal *jsonl.Log // nil until Load has succeeded
	closed  bool
	broken  error // the error of Load
	end     mark
	saving  bool // the folder for blobs exists
	buf     []byte
}

// Open locks the folder dir. If it does not exist, Open creates it, readable only by its owner. If
// another process has locked it, the error wraps ErrBusy and names the process.
//
// Append syncs the disk at every syncEvery-th call; with 1 or less, at each call. A kill at any instant
// loses no acknowledged record. A power failure may lose the last syncEvery-1 calls; their work is
// then repeated.
func Open(dir string, syncEvery int) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the state folder: %w; choose another one", explain(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the state folder: %w; choose another one", err)
	}
	lock, err := acquire(root)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the state folder %s: %w", dir, explain(err)), root.Close())
	}
	free := func() error { return errors.Join(release(root, lock), root.Close()) }
	return &Disk{path: dir, syncEvery: syncEvery, files: rooted{root}, release: free}, nil
}

func explain(err error) error {
	return atomicdir.ExplainFor(err, "keep the state on another disk")
}

// Load implements Store. It cuts off the incomplete end of an interrupted Append.
func (d *Disk) Load(snapshot, record func(data []byte) error) (Recovery, error) {
	if err := d.loadOnce(); err != nil {
		return Recovery{}, err
	}
	// Unlocked, since the callbacks may read a blob.
	found, end, err := load(d.files, snapshot, record)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil && d.closed {
		err = ErrClosed
	}
	if err == nil {
		err = d.begin(end)
	}
	if err != nil {
		d.broken = jsonl.Broken(err)
		return Recovery{}, fmt.Errorf("load the journal of %s: %w", d.path, explain(err))
	}
	return found, nil
}

func (d *Disk) loadOnce() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return fmt.Errorf("load the journal of %s: %w", d.path, ErrClosed)
	case d.loaded:
		return errLoaded
	}
	d.loaded = true
	return nil
}

// begin opens the journal for appending after its intact lines.
func (d *Disk) begin(end extent) error {
	if end.size == 0 {
		if err := replace(d.files, ".", journalFile, []byte(header)); err != nil {
			return err
		}
		end.size, end.torn = int64(len(header)), 0
	}
	f, err := d.files.open(journalFile, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return err
	}
	log := jsonl.NewLog(f, end.size, max(1, d.syncEvery))
	if end.torn > 0 {
		if err := log.Cut(); err != nil {
			return errors.Join(fmt.Errorf("cut off its torn end: %w", err), f.Close())
		}
	}
	d.journal, d.end = log, end.mark
	return nil
}

// Append implements Store. After a failed write, the file is truncated to its former size. If that or a
// sync fails, the content of the disk is unknown, and the store rejects further records until it is
// opened again.
func (d *Disk) Append(records ...[]byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := errors.Join(d.writable(), checkRecords(records))
	if err == nil && len(records) > 0 {
		err = d.add(records)
	}
	if err != nil {
		return fmt.Errorf("append to the journal of %s: %w", d.path, explain(err))
	}
	return nil
}

func (d *Disk) add(records [][]byte) error {
	var sum uint32
	d.buf, sum = appendLine(d.buf[:0], d.end.records+1, records)
	if err := d.journal.Append(d.buf); err != nil {
		return err
	}
	d.end = mark{records: d.end.records + len(records), sum: sum}
	if cap(d.buf) > 1<<20 {
		d.buf = nil // do not keep the buffer of a large record
	}
	return nil
}

func (d *Disk) writable() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.broken != nil:
		return d.broken
	case d.journal == nil:
		return errLoadFirst
	}
	return nil
}

// Checkpoint implements Store.
func (d *Disk) Checkpoint(snapshot []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := errors.Join(d.writable(), checkBlob("the snapshot", snapshot))
	if err == nil {
		err = d.journal.Sync()
	}
	if err == nil {
		err = replace(d.files, ".", snapshotFile, seal(kindSnapshot, d.end.String(), snapshot))
	}
	if err != nil {
		return fmt.Errorf("save a snapshot in %s: %w", d.path, explain(err))
	}
	return nil
}

// Close implements Store. It syncs every record and releases the folder.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	var err error
	if d.journal != nil {
		err = d.journal.Close()
	}
	if err = errors.Join(err, d.release()); err != nil {
		return fmt.Errorf("close the journal of %s: %w", d.path, explain(err))
	}
	return nil
}
