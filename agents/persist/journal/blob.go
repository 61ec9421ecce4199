package journal

import (
	"errors"
	"fmt"
)

// Save implements Store. It syncs the blob.
func (d *Disk) Save(name string, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fmt.Errorf("save %s in %s: %w", name, d.path, ErrClosed)
	}
	if err := errors.Join(checkName(name), checkBlob(name, data)); err != nil {
		return fmt.Errorf("save a blob: %w", err)
	}
	if err := d.save(name, data); err != nil {
		return fmt.Errorf("save %s in %s: %w", name, d.path, explain(err))
	}
	return nil
}

func (d *Disk) save(name string, data []byte) error {
	if !d.saving {
		if err := errors.Join(d.files.mkdir(savedFolder), d.files.syncFolder(".")); err != nil {
			return err
		}
		d.saving = true
	}
	return replace(d.files, savedFolder, name, seal(kindBlob, name, data))
}

// Read implements Store. The error wraps ErrCorrupt if the blob was changed.
func (d *Disk) Read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("read %s in %s: %w", name, d.path, ErrClosed)
	}
	return readBlob(d.files, d.path, name)
}

func readBlob(in files, path, name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, fmt.Errorf("read a blob: %w", err)
	}
	sealed, err := read(in, savedFolder+"/"+name, maxBlob+256)
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w", name, path, err)
	}
	note, data, err := unseal(kindBlob, sealed)
	if err == nil && note != name {
		err = fmt.Errorf("it was saved as %q", note)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s in %s: %w: %w", name, path, ErrCorrupt, err)
	}
	return data, nil
}
