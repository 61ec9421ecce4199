package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// evicted is the form of the blob of files that left the context.
type evicted struct {
	Files []string `json:"files"`
}

// enter puts files into the context of a record, of a task with an index. Files that
// must leave for them are saved and read back before; where that fails none leaves.
func (r *run) enter(record *state.Record, files []string, task int) {
	if len(files) == 0 {
		return
	}
	w := r.state.Window
	change := w.Want(files, r.state.Essential(task))
	blob, err := r.save(change.Evicted)
	if err != nil {
		r.keptContext(task, err)
		change = w.Fit(files)
	}
	if !change.Empty() {
		record.Context, record.Blob = &change, blob
	}
}

// look is the look at the context that is due every so often: what was not used
// since the last one and is not needed leaves.
func (r *run) look() error {
	if r.now()-r.state.Looked < r.limits.OptimiseEvery.Std() {
		return nil
	}
	change := r.state.Window.Stale(r.state.Essential(r.state.Running))
	blob, err := r.save(change.Evicted)
	if err != nil {
		r.keptContext(r.state.Running, err)
		change.Evicted = nil
	}
	record := state.Record{Kind: state.KindContext, Context: &change, Blob: blob}
	if err := r.put(record); err != nil {
		return err
	}
	r.tellContext(record)
	return nil
}

// save saves files that are to leave the context and reads them back. It returns the
// name of what holds them, empty if there are none.
func (r *run) save(files []string) (blob string, err error) {
	if len(files) == 0 {
		return "", nil
	}
	blob = fmt.Sprintf("context-%06d.json", r.state.Blobs+1)
	data, err := json.Marshal(evicted{files})
	if err != nil {
		return "", err
	}
	if err := r.Store.Save(blob, data); err != nil {
		return "", err
	}
	back, err := r.Store.Read(blob)
	if err == nil && !bytes.Equal(back, data) {
		err = errors.New("what was read back is not what was saved")
	}
	if err != nil {
		return "", err
	}
	return blob, nil
}

func (r *run) keptContext(task int, err error) {
	r.tell(event.Event{
		Kind: event.Guard, Name: "context-kept", Detail: "no file leaves the context, as it could not be saved: " + err.Error(),
		Attrs: map[string]any{"task": r.name(task)},
	})
}

// tellContext tells of a record that changes the context, if files left it or came back.
func (r *run) tellContext(record state.Record) {
	c := record.Context
	if c == nil || len(c.Evicted)+len(c.Restored) == 0 {
		return
	}
	if record.Blob != "" {
		r.tell(event.Event{Kind: event.Checkpoint, Name: "context", N: r.state.Blobs, Attrs: map[string]any{"records": r.records()}})
	}
	r.tell(event.Event{Kind: event.State, Name: "context", Attrs: map[string]any{
		"files": r.state.Window.Len(), "evicted": len(c.Evicted), "restored": len(c.Restored),
	}})
}
