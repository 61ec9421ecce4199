package persist

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// Amendment is a change of the plan of a run that has begun.
type Amendment struct {
	// Changes are the differences. Changed tasks have another text, dependencies, inputs or files; they
	// include Skipped and Restored.
	Changes PlanChanged
	// Skipped are tasks that the new plan skips, Restored are those that only the earlier plan skipped.
	Skipped, Restored []string

	store  journal.Store
	print  fingerprint
	record state.Record
}

// ErrUnchanged is the error for an amendment by the plan that is stored already.
var ErrUnchanged = errors.New("the plan has not changed")

// PrepareAmendment compares a plan with that of the state in the store. It writes nothing; Record of the
// result replaces the stored plan. The error wraps ErrUnchanged, or ErrRefused if the run has not begun,
// or a task that is done is changed, or one that has begun is removed.
func PrepareAmendment(p plan.Plan, store journal.Store) (*Amendment, error) {
	f, err := foldAny(p, store)
	if err != nil {
		return nil, err
	}
	if !f.state.Begun() {
		return nil, fmt.Errorf("amend the plan: %w: it has not begun, so start it as it is", ErrRefused)
	}
	if f.state.Plan == f.print.digest() {
		return nil, fmt.Errorf("amend the plan: %w", errors.Join(ErrUnchanged, savePrint(store, f.print)))
	}
	a, err := amendment(f.stored[f.state.Plan], f.print, f.state, p)
	if err != nil {
		return nil, err
	}
	a.store = store
	return a, nil
}

// PreviewAmendment is PrepareAmendment for a store that another process writes. The result cannot be recorded.
func PreviewAmendment(p plan.Plan, from reader) (*Amendment, error) {
	f, err := foldAny(p, from)
	if err != nil {
		return nil, err
	}
	if f.state.Plan == f.print.digest() {
		return nil, fmt.Errorf("amend the plan: %w", ErrUnchanged)
	}
	return amendment(f.stored[f.state.Plan], f.print, f.state, p)
}

// amendment returns the change of a state from one plan to another.
func amendment(before, print fingerprint, s *state.State, p plan.Plan) (*Amendment, error) {
	a := &Amendment{Changes: *before.changes(print), print: print}
	a.compareSkips(before)
	next, err := s.Amend(p, a.Changes.Changed)
	if err != nil {
		return nil, fmt.Errorf("amend the plan: %w: %w", ErrRefused, err)
	}
	tasks, err := json.Marshal(print)
	if err != nil {
		return nil, err
	}
	snapshot, err := next.Snapshot()
	if err != nil {
		return nil, err
	}
	a.record = state.Record{
		Kind: state.KindAmend, At: next.At, Plan: print.digest(), Amended: &state.Amended{Tasks: tasks, State: snapshot},
	}
	return a, nil
}

// Record writes the amendment to the store.
func (a *Amendment) Record() error {
	data, err := a.record.Encode()
	if err != nil {
		return err
	}
	if err := a.store.Append(data); err != nil {
		return err
	}
	return savePrint(a.store, a.print) // after a crash before it, the next run does it
}

func (a *Amendment) compareSkips(before fingerprint) {
	skipped := map[string]bool{}
	for _, t := range before.Tasks {
		skipped[t.ID] = t.Skip
	}
	for _, t := range a.print.Tasks {
		switch {
		case t.Skip && !skipped[t.ID]:
			a.Skipped = append(a.Skipped, t.ID)
		case !t.Skip && skipped[t.ID]:
			a.Restored = append(a.Restored, t.ID)
		}
	}
}

// anyFolding is a folding of the state of any plan whose structure is stored.
type anyFolding struct {
	*folding
	stored map[string]fingerprint // by digest
}

// foldAny restores the state of the plan that the store has, which may differ from p.
func foldAny(p plan.Plan, store reader) (*anyFolding, error) {
	print, err := fingerprintOf(p)
	if err != nil {
		return nil, err
	}
	f := &anyFolding{
		folding: &folding{plans: map[string]plan.Plan{print.digest(): p}, print: print, from: store},
		stored:  map[string]fingerprint{},
	}
	outdated := false
	f.learn = func(digest string, data []byte) {
		var stored fingerprint
		if json.Unmarshal(data, &stored) != nil || stored.digest() != digest {
			return
		}
		outdated = stored.Version == 0
		if f.stored[digest] = stored; !outdated && digest != print.digest() {
			f.plans[digest] = stored.structure(p)
		}
	}
	if data, err := store.Read(planBlob); err == nil {
		var stored fingerprint
		if json.Unmarshal(data, &stored) == nil {
			f.learn(stored.digest(), data)
		}
	}
	if _, err := f.load(p); err != nil {
		if _, changed := errors.AsType[*PlanChanged](err); changed && outdated {
			return nil, fmt.Errorf("amend the plan: %w: an earlier version began it and did not store its structure; "+
				"start it once with the plan as it was", ErrRefused)
		}
		return nil, err
	}
	return f, nil
}

// structure returns the stored plan as far as the state depends on it, with the limits of p.
func (f fingerprint) structure(p plan.Plan) plan.Plan {
	old := plan.Plan{Name: p.Name, Checks: p.Checks, Limits: p.Limits}
	retries := make(map[string]*int, len(p.Tasks))
	for _, t := range p.Tasks {
		retries[t.ID] = t.Retries
	}
	for _, t := range f.Tasks {
		task := plan.Task{ID: t.ID, Do: t.ID, After: t.After, Retries: retries[t.ID]}
		if t.Skip {
			task.Skip = "skipped"
		}
		old.Tasks = append(old.Tasks, task)
	}
	return old
}
