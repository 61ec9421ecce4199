package reports

import "time"

// ongoing is a trial that has begun.
type ongoing struct {
	name     string // to be shown
	scenario string
	since    time.Time
}

// trialTimes knows how long trials took, in this run and in earlier ones.
type trialTimes struct {
	past  map[string]float64 // seconds of a trial of each scenario, in an earlier run
	total float64            // expected seconds of all trials; 0 if unknown
	done  float64            // expected seconds of the trials that ended
	usual float64            // expected seconds of a trial of a scenario without a past
	spent map[string]spent   // in this run
}

type spent struct {
	seconds float64
	trials  int
}

// Past sets the seconds that a trial of each scenario took in an earlier run, for the estimate of the time that is
// left, and how many trials each scenario has now. A scenario without a past counts like the mean of the others.
func (p *Progress) Past(seconds map[string]float64, trials map[string]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, n := 0.0, 0
	for name := range trials {
		if s, ok := seconds[name]; ok {
			known, n = known+s, n+1
		}
	}
	if 2*n < len(trials) || known <= 0 {
		return // too little is known
	}
	t := &p.times
	t.past, t.usual = seconds, known/float64(n)
	for name, count := range trials {
		t.total += float64(count) * t.expected(name)
	}
}

// Seconds returns how long a trial of each scenario took in this run, on average.
func (p *Progress) Seconds() map[string]float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]float64{}
	for name, s := range p.times.spent {
		out[name] = s.seconds / float64(s.trials)
	}
	return out
}

func (t *trialTimes) expected(scenario string) float64 {
	if s, ok := t.past[scenario]; ok {
		return s
	}
	return t.usual
}

// add adds a trial that ended.
func (t *trialTimes) add(scenario string, took time.Duration) {
	if t.spent == nil {
		t.spent = map[string]spent{}
	}
	s := t.spent[scenario]
	t.spent[scenario] = spent{s.seconds + took.Seconds(), s.trials + 1}
	t.done += t.expected(scenario)
}

// share returns the share of the expected time that is done, with a part of the trials that are running; 0 if it is
// unknown.
func (t *trialTimes) share(running []ongoing, now time.Time) float64 {
	if t.total == 0 {
		return 0
	}
	done := t.done
	for _, r := range running {
		done += min(now.Sub(r.since).Seconds(), t.expected(r.scenario))
	}
	return min(done/t.total, 1)
}
