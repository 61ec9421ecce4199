package queue

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// simulation is a run over a queue in simulated time. The jobs are cut by the product's own code (batch and its
// estimate); the coordinator is one server that consumes the trials in the order of the plan.
type simulation struct {
	trials, slots int
	trial         time.Duration // the mean; times are distributed log-normally with this standard deviation of the logarithm:
	spread        float64
	merge         time.Duration // of the coordinator for a trial: decode, judge, write
	job           time.Duration // of the coordinator for a job: issue, collect
	claim         time.Duration // of a slot between two jobs: claim, store
}

// measured are the constants of docs/how-to/fleet.md, on one core of 2.
var measured = simulation{spread: 0.5, merge: 110 * time.Microsecond, job: 500 * time.Microsecond, claim: 5 * time.Millisecond}

// simulated is what a simulation found.
type simulated struct {
	total   time.Duration
	ideal   time.Duration // if slots had nothing but trials, and the coordinator took no time
	waiting int           // the most results that waited in the database, in jobs
	issued  int           // the most jobs that were issued and not done
	jobs    int
}

// ending is the end of a job in a slot.
type ending struct {
	span
	at, took time.Duration
}

type endings []ending

func (e endings) Len() int           { return len(e) }
func (e endings) Less(i, j int) bool { return e[i].at < e[j].at }
func (e endings) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)        { *e = append(*e, x.(ending)) }
func (e *endings) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// run simulates the whole run. Each step is one of the coordinator's loop.
func (m simulation) run() (r simulated) {
	random := rand.New(rand.NewPCG(1, uint64(m.trials)))
	opts := Options{}.withDefaults()
	layout := newLayout([]Scenario{{Trials: m.trials}})
	var running endings
	var waiting []span                     // issued, for the next free slot
	free := make([]time.Duration, m.slots) // since when each slot that is free has been so
	done, next := map[int]span{}, 0        // not consumed, and the next trial to be consumed
	var busy, work time.Duration           // until when the coordinator merges, and the sum of all trials
	var est estimate
	todo, open := span{0, m.trials - 1}, 0
	for now := time.Duration(0); next < m.trials; now = max(now, busy) + pollTime {
		for len(running) > 0 && running[0].at <= now { // slots take their next job before the coordinator looks again
			e := heap.Pop(&running).(ending)
			done[e.first], open = e.span, open-1
			est.add(&layout, e.span, e.took)
			if len(waiting) == 0 {
				free = append(free, e.at)
				continue
			}
			m.start(&running, waiting[0], e.at, random, &work)
			waiting = waiting[1:]
		}
		r.waiting = max(r.waiting, len(done))
		busy = now
		for s, ok := done[next]; ok; s, ok = done[next] {
			delete(done, next)
			next, busy = s.last+1, busy+time.Duration(s.len())*m.merge
		}
		room := roomFor(open, len(done), m.slots, opts.Window)
		for ; room > 0 && todo.first <= todo.last; room-- {
			s := batch(&layout, todo, &est, opts.JobTime, todo.len(), m.slots)
			todo.first, open, r.jobs = s.last+1, open+1, r.jobs+1
			busy += m.job
			if len(free) == 0 {
				waiting = append(waiting, s)
				continue
			}
			m.start(&running, s, max(busy, free[len(free)-1]), random, &work)
			free = free[:len(free)-1]
		}
		r.issued = max(r.issued, open)
		r.total = busy
	}
	r.ideal = work / time.Duration(m.slots)
	return r
}

// start begins a job in a slot.
func (m simulation) start(running *endings, s span, at time.Duration, random *rand.Rand, work *time.Duration) {
	var took time.Duration
	for range s.len() {
		took += time.Duration(float64(m.trial) * math.Exp(m.spread*random.NormFloat64()-m.spread*m.spread/2))
	}
	*work += took
	heap.Push(running, ending{s, at + m.claim + took, took})
}

var _ = Describe("a simulated run", Label("H-04"), func() {
	at := func(trials, slots int, trial time.Duration) simulated {
		m := measured
		m.trials, m.slots, m.trial = trials, slots, trial
		return m.run()
	}

	It("keeps the slots busy until the coordinator is", func() {
		for _, slots := range []int{1, 10, 100, 1000} {
			r := at(200*slots, slots, time.Second)
			Expect(r.total.Seconds()).To(BeNumerically("~", r.ideal.Seconds(), 0.05*r.ideal.Seconds()+10), "%d slots", slots)
		}
		// 1,000 slots would end 100,000 trials of 10 ms in a second, but the coordinator needs 0.11 ms for each.
		r := at(100_000, 1000, 10*time.Millisecond)
		Expect(r.total).To(And(BeNumerically(">", 11*time.Second), BeNumerically("<", 25*time.Second)))
	})

	It("has bounded jobs, and results that wait", func() {
		for _, trial := range []time.Duration{time.Millisecond, time.Second} {
			r := at(50_000, 100, trial)
			Expect(r.issued).To(BeNumerically("<=", 400))
			Expect(r.waiting).To(BeNumerically("<=", minAhead))
		}
	})
})

// BenchmarkSimulation plans a run of a million trials: the table of docs/how-to/fleet.md.
func BenchmarkSimulation(b *testing.B) {
	m := measured
	if m.trials = 1_000_000; testing.Short() {
		m.trials = 10_000
	}
	for _, m.trial = range []time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second} {
		for _, m.slots = range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("trial=%s/slots=%d", m.trial, m.slots), func(b *testing.B) {
				for b.Loop() {
					r := m.run()
					b.ReportMetric(r.total.Seconds(), "s/run")
					b.ReportMetric(r.ideal.Seconds(), "s/ideal")
					b.ReportMetric(float64(r.jobs), "jobs")
					b.ReportMetric(float64(r.waiting), "results-waiting")
				}
			})
		}
	}
}
