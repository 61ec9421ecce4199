package history

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// NoteFile is the name of the file beside a recording from which the history can be restored.
const NoteFile = "history.json"

const noteSchema = "rehearse.history/1"

// maxNote limits the size of a note.
const maxNote = 1 << 20

// Note has the properties of a run that differ between equal runs, and are therefore not in its
// recording.
type Note struct {
	Schema string `json:"schema"`
	// ID is the id of the run, and SHA256 the hash of the recording that the note belongs to.
	ID     string    `json:"id"`
	Kind   Kind      `json:"kind,omitempty"`
	SHA256 string    `json:"sha256"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended"`
	// By is the user who made the run.
	By string `json:"by,omitempty"`
	// Timings is the hash of the file with the timings; empty without one.
	Timings string `json:"timings_sha256,omitempty"`
	// Exploration is the hash of the file with all runs of an exploration; empty without one.
	Exploration string `json:"exploration_sha256,omitempty"`
	Origin
}

// NoteOf returns the note of a run.
func NoteOf(r *Run) Note {
	return Note{Schema: noteSchema, ID: r.ID, Kind: r.Kind, SHA256: r.SHA256, Began: r.Began, Ended: r.Ended, Origin: r.Origin}
}

// Write writes the note.
func (n Note) Write(w io.Writer) error { return format.JSON(w, n) }

// Apply copies the properties to a run.
func (n *Note) Apply(r *Run) {
	r.ID, r.Kind, r.Began, r.Ended, r.Origin = n.ID, cmp.Or(n.Kind, r.Kind), n.Began, n.Ended, n.Origin
}

// ReadNote reads a note; it returns nil without a file.
func ReadNote(path string) (*Note, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	data, err := input.ReadFile("note of the history", path, maxNote)
	if err != nil {
		return nil, err
	}
	var n Note
	switch err := json.Unmarshal(data, &n); {
	case err != nil:
		return nil, fmt.Errorf("read the note of the history %s: it is damaged (%w); remove the file to import the recording without it", path, err)
	case n.Schema != noteSchema:
		return nil, fmt.Errorf("read the note of the history %s: its schema is %.100q, and this program reads %q; "+
			"use the version that wrote it, or remove the file to import the recording without it", path, n.Schema, noteSchema)
	case len(n.ID) != 13 || !idPattern().MatchString(n.ID):
		return nil, fmt.Errorf("read the note of the history %s: %.100q is not the id of a run; "+
			"remove the file to import the recording without it", path, n.ID)
	}
	return &n, nil
}
