package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// DefaultWorker is the name of the worker of tasks without one.
const DefaultWorker = "default"

// The defaults of Limits, Task and Probe.
const (
	defaultRounds       = 5
	defaultCheckEvery   = 5
	defaultContextFiles = 50
	defaultHardCalls    = 1000

	defaultContextBytes     = 32 << 10
	defaultContextFileBytes = 8 << 10

	defaultSegments = 100
	defaultRetries  = 2

	defaultSaveEvery     = quantity.Duration(5 * time.Minute)
	defaultStagnation    = quantity.Duration(10 * time.Minute)
	defaultNoProgress    = quantity.Duration(2 * time.Hour)
	defaultShortRun      = quantity.Duration(30 * time.Minute)
	defaultOptimiseEvery = quantity.Duration(15 * time.Minute)
	defaultProbeTimeout  = quantity.Duration(10 * time.Minute)
)

// WithDefaults returns l with its defaults. Timeout and Budget stay off unless they are given.
func (l Limits) WithDefaults() Limits {
	l.Rounds = cmp.Or(l.Rounds, defaultRounds)
	l.CheckEvery = cmp.Or(l.CheckEvery, defaultCheckEvery)
	l.SaveEvery = cmp.Or(l.SaveEvery, defaultSaveEvery)
	l.Stagnation = cmp.Or(l.Stagnation, defaultStagnation)
	l.NoProgress = cmp.Or(l.NoProgress, defaultNoProgress)
	l.ShortRun = cmp.Or(l.ShortRun, defaultShortRun)
	l.ContextFiles = cmp.Or(l.ContextFiles, defaultContextFiles)
	l.OptimiseEvery = cmp.Or(l.OptimiseEvery, defaultOptimiseEvery)
	l.HardCalls = cmp.Or(l.HardCalls, defaultHardCalls)
	// Nine tenths, 900 of 1000, and always below.
	l.SoftCalls = cmp.Or(l.SoftCalls, max(1, min(l.HardCalls-l.HardCalls/10, l.HardCalls-1)))
	l.Segments = cmp.Or(l.Segments, defaultSegments)
	return l
}

// FileBytes returns the largest size of the files in a prompt, of all together and of each one.
func (l Limits) FileBytes() (all, each int) {
	all, each = defaultContextBytes, cmp.Or(l.ContextFileBytes, defaultContextFileBytes)
	if l.ContextBytes != nil {
		all = *l.ContextBytes
	}
	return all, each
}

// MaxRetries returns the number of retries of the task after failed attempts.
func (t Task) MaxRetries() int {
	if t.Retries == nil {
		return defaultRetries
	}
	return *t.Retries
}

// Worker returns the name of the worker that does the task.
func (t Task) Worker() string { return cmp.Or(t.By, DefaultWorker) }

// WithDefaults returns p with the default timeout of a command.
func (p Probe) WithDefaults() Probe {
	if len(p.Command) > 0 {
		p.Timeout = cmp.Or(p.Timeout, defaultProbeTimeout)
	}
	return p
}

// Worker returns the worker with a name, and whether there is one. Unless the plan defines the worker
// "default", it is a runner loop without options; if every task names its worker, it is the worker of
// the first task, because only tasks derived from checks use it then.
func (p Plan) Worker(name string) (Worker, bool) {
	w, ok := p.Workers[name]
	if ok || name != DefaultWorker {
		return w, ok
	}
	if len(p.Tasks) > 0 && !slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Worker() == DefaultWorker }) {
		if first, ok := p.Workers[p.Tasks[0].By]; ok {
			return first, true
		}
	}
	return Worker{Loop: &loop.Options{}}, true
}

// workerNames returns the names of workers that a task may use.
func (p Plan) workerNames() []string {
	names := slices.Sorted(maps.Keys(p.Workers))
	if !slices.Contains(names, DefaultWorker) {
		names = append(names, DefaultWorker)
	}
	return names
}
