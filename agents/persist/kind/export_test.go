package kind

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Verifier is the verifier of a trial, with a store and a worker that it observes.
type Verifier struct {
	w      *verifier
	store  journal.Store
	worker persist.Worker
}

// NewVerifier returns a verifier that reports violations to a sink.
func NewVerifier(sink event.Sink) Verifier {
	w := newVerifier(sink)
	idle := map[string]persist.Worker{"default": nobody{}}
	return Verifier{w: w, store: w.wrapStore(journal.NewMemory()), worker: w.wrapWorkers(idle)["default"]}
}

type nobody struct{}

// Work implements persist.Worker.
func (nobody) Work(context.Context, persist.Assignment) persist.Outcome { return persist.Outcome{} }

// Load opens the store.
func (w Verifier) Load() error {
	_, err := w.store.Load(func([]byte) error { return nil }, func([]byte) error { return nil })
	return err
}

// Work makes an attempt.
func (w Verifier) Work(a persist.Assignment) { w.worker.Work(context.Background(), a) }

// Store stores a record.
func (w Verifier) Store(r state.Record) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return w.store.Append(data)
}

// StoreRaw stores data that may not be a record.
func (w Verifier) StoreRaw(data []byte) error { return w.store.Append(data) }

// Close checks a result against the stored records.
func (w Verifier) Close(r persist.Result) { w.w.close(r) }

// CrashStore is the store of one simulated process.
type CrashStore = crashStore

// NewCrashStore returns a store with faults, and a function that returns the faults that were not
// injected.
func NewCrashStore(s journal.Store, sink event.Sink, ps ...perturb.Perturbation) (store *CrashStore, unfired func() []string) {
	plan := drive.NewCrashPlan(event.Discard, ps)
	return &crashStore{Store: s, sink: sink, Process: drive.Process{Plan: plan}}, plan.Unfired
}
