package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// Memory is a Store in memory. Reopen simulates a restart after a kill.
type Memory struct {
	mu     sync.Mutex
	stored *content
	loaded bool
	ready  bool // Load has succeeded
	closed bool
}

// content survives Reopen.
type content struct {
	records  [][]byte
	snapshot []byte
	covers   int // number of records that the snapshot replaces
	blobs    map[string][]byte
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{stored: &content{blobs: map[string][]byte{}}}
}

// Reopen closes m like a kill of its process, and returns a store with the same content, which must be
// loaded.
func (m *Memory) Reopen() *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return &Memory{stored: m.stored}
}

// Load implements Store.
func (m *Memory) Load(snapshot, record func(data []byte) error) (Recovery, error) {
	k, err := m.loadOnce()
	if err != nil {
		return Recovery{}, err
	}
	// Unlocked, since the callbacks may read a blob.
	found := Recovery{Records: len(k.records), Replayed: len(k.records) - k.covers, Snapshot: k.snapshot != nil}
	if found.Snapshot {
		if err := snapshot(bytes.Clone(k.snapshot)); err != nil {
			return Recovery{}, fmt.Errorf("take the snapshot: %w", err)
		}
	}
	for i, data := range k.records[k.covers:] {
		if err := record(bytes.Clone(data)); err != nil {
			return Recovery{}, fmt.Errorf("take record %d: %w", k.covers+i+1, err)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ready = true
	return found, nil
}

// loadOnce returns the current content.
func (m *Memory) loadOnce() (content, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return content{}, fmt.Errorf("load the journal: %w", ErrClosed)
	case m.loaded:
		return content{}, errLoaded
	}
	m.loaded = true
	return *m.stored, nil
}

// Append implements Store.
func (m *Memory) Append(records ...[]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.writable(), checkRecords(records)); err != nil {
		return fmt.Errorf("append to the journal: %w", err)
	}
	for _, record := range records {
		m.stored.records = append(m.stored.records, bytes.Clone(record))
	}
	return nil
}

// Checkpoint implements Store.
func (m *Memory) Checkpoint(snapshot []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(m.writable(), checkBlob("the snapshot", snapshot)); err != nil {
		return fmt.Errorf("save a snapshot: %w", err)
	}
	m.stored.snapshot, m.stored.covers = append([]byte{}, snapshot...), len(m.stored.records)
	return nil
}

func (m *Memory) writable() error {
	switch {
	case m.closed:
		return ErrClosed
	case !m.ready:
		return errLoadFirst
	}
	return nil
}

// Save implements Store.
func (m *Memory) Save(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return fmt.Errorf("save %s: %w", name, ErrClosed)
	}
	if err := errors.Join(checkName(name), checkBlob(name, data)); err != nil {
		return fmt.Errorf("save a blob: %w", err)
	}
	m.stored.blobs[name] = bytes.Clone(data)
	return nil
}

// Read implements Store.
func (m *Memory) Read(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("read %s: %w", name, ErrClosed)
	}
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	data, ok := m.stored.blobs[name]
	if !ok {
		return nil, fmt.Errorf("read %s: %w", name, fs.ErrNotExist)
	}
	return bytes.Clone(data), nil
}

// Close implements Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
