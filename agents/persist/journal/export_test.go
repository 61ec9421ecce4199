package journal

import "io"

// Files and File are the folder of a store, for faults.
type (
	Files = files
	File  = file
)

// Header is the first line of a journal.
const Header = header

// On returns a store in a folder that it holds already.
func On(f Files, syncEvery int) *Disk {
	return &Disk{path: "here", syncEvery: syncEvery, files: f, release: func() error { return nil }}
}

// Folder implements Files by functions, since its methods have no exported names.
type Folder struct {
	OpenFile   func(name string, flag int) (File, error)
	Mkdir      func(name string) error
	Rename     func(from, to string) error
	Remove     func(name string) error
	SyncFolder func(name string) error
}

func (f Folder) open(name string, flag int) (file, error) { return f.OpenFile(name, flag) }
func (f Folder) mkdir(name string) error                  { return f.Mkdir(name) }
func (f Folder) rename(from, to string) error             { return f.Rename(from, to) }
func (f Folder) remove(name string) error                 { return f.Remove(name) }
func (f Folder) syncFolder(name string) error             { return f.SyncFolder(name) }

// Check reads a journal and makes sure of its checksums, and no more: the floor of Load.
func Check(in io.Reader) (records int, err error) {
	e, err := scan(in, func(line) error { return nil })
	return e.records, err
}
