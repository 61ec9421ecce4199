package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// contextBlob is the name of the blob with the files that left the context.
const contextBlob = "context.json"

// entries is the content of the blob: files that were in context, least recently used first.
type entries struct {
	Files []string `json:"files"`
}

// enterContext adds files to the context as part of a record of a task. Files that must leave are
// saved first; if that fails, no file leaves.
func (r *supervisor) enterContext(record *state.Record, files []string, task int) {
	if len(files) == 0 {
		return
	}
	w := r.state.Window
	change := w.Want(files, r.state.Essential(task))
	if err := r.saveContext(change.Evicted); err != nil {
		r.emitContextKept(task, err)
		change = w.Fit(files)
	}
	if !change.Empty() {
		record.Context = &change
	}
}

// optimiseContext regularly evicts files that are not needed and were not used since its last run.
func (r *supervisor) optimiseContext() error {
	if r.now()-r.state.Looked < r.limits.OptimiseEvery.Std() {
		return nil
	}
	change := r.state.Window.Stale(r.state.Essential(r.state.Running))
	if err := r.saveContext(change.Evicted); err != nil {
		r.emitContextKept(r.state.Running, err)
		change.Evicted = nil
	}
	record := state.Record{Kind: state.KindContext, Context: &change}
	if err := r.put(record); err != nil {
		return err
	}
	r.emitContext(record)
	return nil
}

// saveContext saves files that leave the context. If one is not saved yet, it saves the whole context,
// which includes the files that leave next, and verifies it.
func (r *supervisor) saveContext(leaving []string) error {
	if len(leaving) == 0 {
		return nil
	}
	if r.entries == nil {
		r.entries = map[string]bool{}
		if data, err := r.Store.Read(contextBlob); err == nil {
			r.markSaved(data)
		}
	}
	if !slices.ContainsFunc(leaving, func(file string) bool { return !r.entries[file] }) {
		return nil
	}
	w := r.state.Window
	data, err := json.Marshal(entries{slices.Concat(w.Evicted(), w.Files(), leaving)})
	if err != nil {
		return err
	}
	if err := r.Store.Save(contextBlob, data); err != nil {
		return err
	}
	back, err := r.Store.Read(contextBlob)
	if err != nil {
		return err
	}
	if !bytes.Equal(back, data) {
		return errors.New("the list that was read back differs from the saved one")
	}
	r.markSaved(back)
	r.saved.Contexts++
	r.emit(r.saved.Contexts, "", Checkpointed{Why: "context", Records: r.state.Records})
	return nil
}

// markSaved sets the saved files from a blob.
func (r *supervisor) markSaved(data []byte) {
	var stored entries
	if json.Unmarshal(data, &stored) != nil {
		return // the blob is replaced
	}
	clear(r.entries)
	for _, file := range stored.Files {
		r.entries[file] = true
	}
}

func (r *supervisor) emitContextKept(task int, err error) {
	r.emit(0, "no file leaves the context, because it could not be saved: "+err.Error(), Guarded{"context-kept", r.taskID(task)})
}

// emitContext emits a change of the context in which files left or came back.
func (r *supervisor) emitContext(record state.Record) {
	c := record.Context
	if c == nil || len(c.Evicted)+len(c.Restored) == 0 {
		return
	}
	r.emit(0, "", ContextChanged{Files: r.state.Window.Len(), Evicted: len(c.Evicted), Restored: len(c.Restored)})
}
