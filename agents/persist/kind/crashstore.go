package kind

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// crashStore is the store and the sink of one simulated process of a supervisor.
type crashStore struct {
	journal.Store
	drive.Process
	sink event.Sink
}

// planned returns the crashes and the full disk of a scenario.
func planned(d *Options) (ps []perturb.Perturbation) {
	for _, c := range d.Crashes {
		ps = append(ps, perturb.Perturbation{At: perturb.Write, N: c.Write, Do: "crash-" + cmp.Or(c.When, "before")})
	}
	if d.DiskFull > 0 {
		ps = append(ps, perturb.Perturbation{At: perturb.Write, N: d.DiskFull, Do: perturb.DiskFull})
	}
	return ps
}

// Append implements journal.Store.
func (m *crashStore) Append(records ...[]byte) error {
	return m.Write(func() error { return m.Store.Append(records...) })
}

// Checkpoint implements journal.Store.
func (m *crashStore) Checkpoint(snapshot []byte) error {
	return m.Write(func() error { return m.Store.Checkpoint(snapshot) })
}

// Save implements journal.Store.
func (m *crashStore) Save(name string, data []byte) error {
	return m.Write(func() error { return m.Store.Save(name, data) })
}

// Emit implements event.Sink.
func (m *crashStore) Emit(e event.Event) {
	if !m.Crashed() {
		m.sink.Emit(e)
	}
}
