package drive

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// errDead is what every store and backend of a dead process says.
var errDead = errors.New("the process has died, as the scenario says")

// fate counts the durable writes of all processes of a trial and knows what
// becomes of some of them. It is safe for concurrent use.
type fate struct {
	sink event.Sink // is told of each blow

	mu     sync.Mutex
	writes int
	deaths int
	blows  []blow
	again  bool // the disk was full, and will be
}

// blow is something that happens at a write or a turn.
type blow struct {
	perturb.Perturbation
	struck int
}

// newFate takes from the perturbations those of a point.
func newFate(sink event.Sink, ps []perturb.Perturbation) *fate {
	return &fate{sink: sink, blows: blowsAt(perturb.Write, ps)}
}

func blowsAt(at perturb.Point, ps []perturb.Perturbation) (all []blow) {
	for _, p := range ps {
		if p.At == at {
			all = append(all, blow{Perturbation: p})
		}
	}
	return all
}

// due reports whether it strikes at n.
func (b *blow) due(n int) bool {
	late := n - b.N
	return late == 0 || b.Every > 0 && late > 0 && late%b.Every == 0
}

// tell says that it strikes.
func (b *blow) tell(sink event.Sink, n int) {
	b.struck++
	sink.Tell(event.Event{Kind: event.State, Name: "perturbation", N: n, Detail: b.String()})
}

// unfired are the blows that never struck, of n places that there were; met says why
// one at such a place did not.
func unfired(blows []blow, n int, places, met string) (texts []string) {
	for i := range blows {
		switch b := &blows[i]; {
		case b.struck > 0:
		case b.N > n:
			texts = append(texts, fmt.Sprintf("%s: there were %d %s", b, n, places))
		default:
			texts = append(texts, fmt.Sprintf("%s: %s", b, met))
		}
	}
	return texts
}

// next lets something happen at the next write.
func (f *fate) next(do string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.blows = append(f.blows, blow{Perturbation: perturb.Perturbation{At: perturb.Write, N: f.writes + 1, Do: do}})
}

// write counts a write and says what becomes of it; empty means that it is made.
func (f *fate) write() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	for i := range f.blows {
		if b := &f.blows[i]; b.due(f.writes) {
			b.tell(f.sink, f.writes)
			f.again = b.Do == perturb.DiskFull && b.Every > 0
			return b.Do
		}
	}
	return ""
}

// full reports, once, whether the disk was full and will be again: whoever runs the
// agent makes room and goes on each time.
func (f *fate) full() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.again
	f.again = false
	return was
}

func (f *fate) died() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deaths++
}

func (f *fate) count() (writes, deaths int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes, f.deaths
}

// unfired are the things that were to happen and did not.
func (f *fate) unfired() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return unfired(f.blows, f.writes, "writes", "something else happened at that write")
}

// life is one life of a process. When it has ended nothing more gets through.
type life struct {
	fate *fate
	end  func() // hears of the death; may be nil

	mu   sync.Mutex
	dead bool
}

func (l *life) died() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

// retire ends the life in order.
func (l *life) retire() (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, l.dead = !l.dead, true
	return first
}

// die ends the life, and returns what the process would have said.
func (l *life) die() error {
	if l.retire() {
		l.fate.died()
		if l.end != nil {
			l.end()
		}
	}
	return errDead
}

// write does one write to the store, unless fate has it otherwise.
func (l *life) write(do func() error) error {
	if l.died() {
		return errDead
	}
	switch l.fate.write() {
	case perturb.CrashBefore:
		return l.die()
	case perturb.DiskFull:
		return atomicdir.Explain(syscall.ENOSPC)
	case perturb.CrashAfter:
		_ = do() // nobody hears of it
		return l.die()
	}
	return do()
}
