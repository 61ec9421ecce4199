package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// contextBlob names what the store keeps of the files that were in context.
const contextBlob = "context.json"

// entries is its form: the files that were in context, the last used one last; of
// very many that left the last ones.
type entries struct {
	Files []string `json:"files"`
}

// enter puts files into the context of a record, of a task with an index. Files that
// must leave for them are saved and read back before; where that fails none leaves.
func (r *supervisor) enter(record *state.Record, files []string, task int) {
	if len(files) == 0 {
		return
	}
	w := r.state.Window
	change := w.Want(files, r.state.Essential(task))
	if err := r.save(change.Evicted); err != nil {
		r.keptContext(task, err)
		change = w.Fit(files)
	}
	if !change.Empty() {
		record.Context = &change
	}
}

// look returns the look at the context that is due every so often: what was not used
// since the last one and is not needed leaves.
func (r *supervisor) look() error {
	if r.now()-r.state.Looked < r.limits.OptimiseEvery.Std() {
		return nil
	}
	change := r.state.Window.Stale(r.state.Essential(r.state.Running))
	if err := r.save(change.Evicted); err != nil {
		r.keptContext(r.state.Running, err)
		change.Evicted = nil
	}
	record := state.Record{Kind: state.KindContext, Context: &change}
	if err := r.put(record); err != nil {
		return err
	}
	r.emitContext(record)
	return nil
}

// save sees that files which are to leave the context are saved. Where one is not
// yet, all of the context is saved, and read back, so that of those to leave soon
// none has to be.
func (r *supervisor) save(leaving []string) error {
	if len(leaving) == 0 {
		return nil
	}
	if r.entries == nil {
		r.entries = map[string]bool{}
		if data, err := r.Store.Read(contextBlob); err == nil {
			r.know(data)
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
		return errors.New("what was read back is not what was saved")
	}
	r.know(back)
	r.saved.Contexts++
	r.emit(r.saved.Contexts, "", Checkpointed{Why: "context", Records: r.state.Records})
	return nil
}

// know takes what is saved.
func (r *supervisor) know(data []byte) {
	var kept entries
	if json.Unmarshal(data, &kept) != nil {
		return // it is saved anew
	}
	clear(r.entries)
	for _, file := range kept.Files {
		r.entries[file] = true
	}
}

func (r *supervisor) keptContext(task int, err error) {
	r.emit(0, "no file leaves the context, as it could not be saved: "+err.Error(), Guarded{"context-kept", r.taskID(task)})
}

// emitContext reports a record that changes the context, if files left it or came back.
func (r *supervisor) emitContext(record state.Record) {
	c := record.Context
	if c == nil || len(c.Evicted)+len(c.Restored) == 0 {
		return
	}
	r.emit(0, "", ContextChanged{Files: r.state.Window.Len(), Evicted: len(c.Evicted), Restored: len(c.Restored)})
}
