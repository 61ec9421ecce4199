package drive

import (
	"context"
	"net/http"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Attach makes an engine reachable as a trial does.
func Attach(env *Env, e *mocks.Engine) (url string, release func() error, err error) {
	return env.socket.attach(e)
}

// Furnish puts the files and links of a stage in a folder.
func Furnish(folder string, s *scenarios.Stage) error { return furnish(folder, s) }

// Recorded is what a trial records of an agent that sends what no loop would.
func Recorded(sc scenarios.Scenario, env *Env, agent func(http.RoundTripper)) (record.Trial, error) {
	s, err := compile(sc.Backend)
	if err != nil {
		return record.Trial{}, err
	}
	t := s.begin(sc, 1, env)
	agent(mocks.NewTransport(t.engine))
	return t.finish(record.End{}), nil
}

// LedgerMatches reports whether a ledger fits the calls that were made.
var LedgerMatches = ledgerMatches

// Witness is who holds supervisors to their promises.
type Witness struct {
	w      *witness
	store  journal.Store
	worker persist.Worker
}

// NewWitness returns one that tells what is broken to a sink.
func NewWitness(sink event.Sink) Witness {
	w := newWitness(sink)
	idle := map[string]persist.Worker{"default": nobody{}}
	return Witness{w: w, store: w.watch(journal.NewMemory()), worker: w.workers(idle)["default"]}
}

type nobody struct{}

// Work implements persist.Worker.
func (nobody) Work(context.Context, persist.Assignment) persist.Outcome { return persist.Outcome{} }

// Load opens the store.
func (w Witness) Load() error {
	_, err := w.store.Load(func([]byte) error { return nil }, func([]byte) error { return nil })
	return err
}

// Work lets a worker work.
func (w Witness) Work(a persist.Assignment) { w.worker.Work(context.Background(), a) }

// Store stores a record.
func (w Witness) Store(r state.Record) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	return w.store.Append(data)
}

// StoreRaw stores what is no record.
func (w Witness) StoreRaw(data []byte) error { return w.store.Append(data) }

// Close holds a result against what was stored.
func (w Witness) Close(r persist.Result) { w.w.close(r) }

// Mortal is the store of one life of a process.
type Mortal = mortal

// NewMortal returns the store, in which things happen at writes, and which of those
// did not.
func NewMortal(s journal.Store, sink event.Sink, ps ...perturb.Perturbation) (m *Mortal, unfired func() []string) {
	f := newFate(event.Discard, ps)
	return &mortal{Store: s, sink: sink, life: life{fate: f}}, f.unfired
}
