package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/record"
)

// Plan describes a run to its workers. It has no secrets.
type Plan struct {
	// Header is that of the recording. A worker computes it from its own files, and refuses the run
	// if its id differs.
	Header record.Run `json:"header"`
	// Scenarios are in the order of the recording.
	Scenarios []Scenario `json:"scenarios"`
	// Prices is the price file; empty for the shipped prices.
	Prices []byte `json:"prices,omitempty"`
	// Require makes it an error if a worker lacks what a scenario needs.
	Require bool `json:"require,omitempty"`
	// Live allows calls of live models.
	Live bool `json:"live,omitempty"`
}

// Scenario is a scenario of a plan.
type Scenario struct {
	// Pattern finds the scenario as an argument of rehearse run does.
	Pattern string `json:"pattern"`
	Name    string `json:"name"`
	Digest  string `json:"digest"`
	Trials  int    `json:"trials"`
	// Needs are the tags that a worker must have, sorted.
	Needs []string `json:"needs,omitempty"`
}

// span is a range of trials, numbered from 0 over the whole plan; both ends belong to it.
type span struct{ first, last int }

func (s span) len() int { return s.last - s.first + 1 }

// layout finds the trials of a plan by their numbers.
type layout struct {
	scenarios []Scenario
	begin     []int      // the first trial of each scenario, and the number of all trials
	lanes     [][]string // the different needs; the jobs of each are in a queue of their own
	lane      []int      // of each scenario
}

func newLayout(scenarios []Scenario) layout {
	l := layout{scenarios: scenarios, begin: make([]int, len(scenarios)+1)}
	for i, sc := range scenarios {
		l.begin[i+1] = l.begin[i] + sc.Trials
		lane := slices.IndexFunc(l.lanes, func(needs []string) bool { return slices.Equal(needs, sc.Needs) })
		if lane < 0 {
			lane, l.lanes = len(l.lanes), append(l.lanes, sc.Needs)
		}
		l.lane = append(l.lane, lane)
	}
	return l
}

func (l *layout) trials() int { return l.begin[len(l.begin)-1] }

// locate returns the scenario, from 0, and the number in it, from 1, of a trial.
func (l *layout) locate(trial int) (scenario, n int) {
	i, exact := slices.BinarySearch(l.begin, trial)
	if !exact {
		i--
	}
	for l.begin[i+1] == trial { // without trials
		i++
	}
	return i, trial - l.begin[i] + 1
}

// number returns the number of trial n, from 1, of a scenario.
func (l *layout) number(scenario, n int) int { return l.begin[scenario] + n - 1 }

// gaps returns the trials that no span covers. The spans are sorted and do not overlap.
func gaps(trials int, covered []span) []span {
	var open []span
	next := 0
	for _, s := range append(slices.Clone(covered), span{trials, trials}) {
		if s.first > next {
			open = append(open, span{next, s.first - 1})
		}
		next = s.last + 1
	}
	return open
}

// Limits of a job.
const (
	maxBatch = 512                   // trials
	minJob   = 50 * time.Millisecond // below that, the queue costs more than an even end of the run saves
	tail     = 2                     // near the end, a job is at most 1/tail of what each slot has left
)

// estimate estimates the time of a trial of a scenario from the times of earlier jobs.
type estimate struct {
	all  mean
	each map[int]*mean // by scenario
}

type mean struct {
	trials int
	time   time.Duration
}

func (m *mean) add(trials int, took time.Duration) {
	m.trials += trials
	m.time += took
}

// add adds the time that a job took to its trials.
func (e *estimate) add(l *layout, s span, took time.Duration) {
	e.all.add(s.len(), took)
	if e.each == nil {
		e.each = map[int]*mean{}
	}
	for g := s.first; g <= s.last; {
		i, _ := l.locate(g)
		end := min(s.last, l.begin[i+1]-1)
		trials := end - g + 1
		if e.each[i] == nil {
			e.each[i] = &mean{}
		}
		e.each[i].add(trials, took*time.Duration(trials)/time.Duration(s.len()))
		g = end + 1
	}
}

// of returns the expected time of a trial of a scenario; unknown if no trial was timed yet.
func (e *estimate) of(scenario int, unknown time.Duration) time.Duration {
	m := &e.all
	if own := e.each[scenario]; own != nil {
		m = own
	}
	if m.trials == 0 {
		return unknown
	}
	return m.time / time.Duration(m.trials)
}

// minAhead is the number of jobs that may be ahead of the one that is consumed next, in a small fleet.
const minAhead = 4096

// roomFor returns how many jobs may be issued: window for each slot, unless too many results wait for an
// earlier one. A slow job must not stop many slots, so that the limit grows with them (see the simulation).
func roomFor(open, done, slots, window int) int {
	wanted := max(slots, 1) * window
	return min(wanted-open, max(minAhead, 4*wanted)-done-open)
}

// batch returns the first trials of open that are one job: about job of work, less near the end of
// the run, so that all slots end at about the same time. A job has one scenario's needs, and at least
// one trial.
func batch(l *layout, open span, e *estimate, job time.Duration, left, slots int) span {
	i, _ := l.locate(open.first)
	each := e.of(i, job)
	target := min(job, max(minJob, each*time.Duration(left)/time.Duration(tail*max(slots, 1))))
	var work time.Duration
	last := open.first
	for g := open.first; g <= open.last && g < open.first+maxBatch; g++ {
		next, _ := l.locate(g)
		if l.lane[next] != l.lane[i] {
			break
		}
		if work += e.of(next, job); work > target && g > open.first {
			break
		}
		last = g
	}
	return span{open.first, last}
}

// expired reports whether a worker is to be considered dead. All times are those of the database.
// Since is when the observer reached the database again: before, no worker may have reached it.
func expired(now, beat, since time.Time, lease time.Duration) bool {
	if since.After(beat) {
		beat = since
	}
	return now.Sub(beat) > lease
}

// overdue updates since when jobs are missed. It returns those that are missing now, and of them those that
// have been missed for longer than strayTime.
func overdue(since map[int64]time.Time, missing []int64, now time.Time) (map[int64]time.Time, []int64) {
	next, due := map[int64]time.Time{}, []int64(nil)
	for _, id := range missing {
		began, known := since[id]
		if !known {
			began = now
		}
		if now.Sub(began) > strayTime {
			due = append(due, id)
			continue
		}
		next[id] = began
	}
	return next, due
}

// retry is what to do with a job whose worker died.
type retry int

const (
	runAgain retry = iota
	split          // run its trials one by one
	giveUp         // the trial kills its workers
)

// splitAfter is the number of deaths after which the trials of a job are run one by one.
const splitAfter = 5

// afterDeath decides about a job of a number of trials whose workers have died this many times.
func afterDeath(deaths, trials, limit int) retry {
	switch {
	case deaths >= min(splitAfter, limit) && trials > 1:
		return split
	case deaths >= limit:
		return giveUp
	}
	return runAgain
}

// queueName returns the name of River's queue for the jobs of a lane of a run.
func queueName(run int64, lane int) string { return fmt.Sprintf("run-%d-%d", run, lane) }

// serves reports whether a worker with these tags may run what has these needs.
func serves(tags, needs []string) bool {
	return !slices.ContainsFunc(needs, func(need string) bool { return !slices.Contains(tags, need) })
}
