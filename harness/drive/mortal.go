package drive

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// mortal is the store of one life of a supervisor, and its sink.
type mortal struct {
	journal.Store
	life
	sink event.Sink
}

// planned are the crashes and the full disk of a scenario as perturbations.
func planned(d *scenarios.SuperviseDrive) (ps []perturb.Perturbation) {
	for _, c := range d.Crashes {
		ps = append(ps, perturb.Perturbation{At: perturb.Write, N: c.Write, Do: "crash-" + cmp.Or(c.When, "before")})
	}
	if d.DiskFull > 0 {
		ps = append(ps, perturb.Perturbation{At: perturb.Write, N: d.DiskFull, Do: perturb.DiskFull})
	}
	return ps
}

// Append implements journal.Store.
func (m *mortal) Append(records ...[]byte) error {
	return m.write(func() error { return m.Store.Append(records...) })
}

// Checkpoint implements journal.Store.
func (m *mortal) Checkpoint(snapshot []byte) error {
	return m.write(func() error { return m.Store.Checkpoint(snapshot) })
}

// Save implements journal.Store.
func (m *mortal) Save(name string, data []byte) error {
	return m.write(func() error { return m.Store.Save(name, data) })
}

// Tell implements event.Sink.
func (m *mortal) Tell(e event.Event) {
	if !m.died() {
		m.sink.Tell(e)
	}
}
