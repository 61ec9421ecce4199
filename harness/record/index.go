package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// ErrNoTrial means that a recording does not have a trial.
var ErrNoTrial = errors.New("the recording does not have this trial")

// Index has the places of the trials of a recording, so that one can be read without the others. It
// grows with a recording that is still written. The zero value is an index of nothing; it is not safe
// for concurrent use.
type Index struct {
	run       Run
	runPlace  place
	scenarios []IndexedScenario
	byName    map[string]int // positions of scenarios
	closed    *Close
	end       int64 // of the indexed lines, in bytes
	lines     int
	open      *place // the trial whose end was not read yet; nil outside trials
	openIn    int    // its scenario
	joined    bool   // another recording follows
	trials    int
	last      int64  // the begin of the last line
	chained   []byte // the begin of its text, whose hash covers all lines before
}

// IndexedScenario is a scenario of an Index.
type IndexedScenario struct {
	Name string
	// Trials has the numbers of the complete trials, in the order of the recording.
	Trials []int
	at     place
	places []place
}

// place is a range of lines.
type place struct {
	from, to int64 // bytes
	line     int   // the first one, from 1
	n        int   // of a trial
}

// Run returns the head of the recording.
func (ix *Index) Run() Run { return ix.run }

// Closed returns the last line of the recording; nil if it has none (yet).
func (ix *Index) Closed() *Close { return ix.closed }

// Scenarios returns the scenarios in the order of the recording. They must not be changed.
func (ix *Index) Scenarios() []IndexedScenario { return ix.scenarios }

// Trials returns the number of complete trials.
func (ix *Index) Trials() int { return ix.trials }

// Update adds the whole lines between those that are indexed and size. It begins anew if the file has
// other lines now than those that are indexed. Damaged lines are those of their trial, and reported when it
// is read. Errors are those of Read.
func (ix *Index) Update(r io.ReaderAt, size int64) error {
	if size < ix.end || !ix.unchanged(r) {
		*ix = Index{}
	}
	if size == ix.end {
		return ix.empty()
	}
	in := newLines(io.NewSectionReader(r, ix.end, size-ix.end))
	base, lines := ix.end, ix.lines
	for {
		from := base + in.Offset()
		text, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return ix.empty()
		case err != nil && !errors.Is(err, jsonl.ErrTooLong):
			return fmt.Errorf("reading the recording: %w", err)
		case in.Torn():
			return ix.empty() // written later, or never
		}
		ix.end, ix.lines, ix.last = base+in.Offset(), lines+in.Line(), from
		ix.chained = append(ix.chained[:0], text[:min(len(text), chainedBytes)]...)
		at := place{from: from, to: ix.end, line: ix.lines}
		if ix.lines == 1 {
			if err := ix.start(r, at); err != nil {
				return err
			}
			continue
		}
		if line, ok := parse(text); err == nil && ok && !ix.joined {
			ix.add(line, at)
		}
	}
}

// chainedBytes holds the hash and the number of a line.
const chainedBytes = 64

// unchanged reports whether the last indexed line is still there.
func (ix *Index) unchanged(r io.ReaderAt) bool {
	now := make([]byte, len(ix.chained))
	_, err := r.ReadAt(now, ix.last)
	return (err == nil || errors.Is(err, io.EOF)) && bytes.Equal(now, ix.chained)
}

func (ix *Index) empty() error {
	if ix.lines == 0 {
		return ErrEmpty
	}
	return nil
}

// start reads the first line as Read does, with its errors.
func (ix *Index) start(r io.ReaderAt, at place) error {
	for e, err := range Read(io.NewSectionReader(r, at.from, at.to-at.from)) {
		switch {
		case err != nil:
			*ix = Index{}
			return err
		case e.Run != nil:
			ix.run, ix.runPlace, ix.byName = *e.Run, at, map[string]int{}
		}
	}
	return nil
}

// add adds a line after the first. Lines that cannot be decoded are left to the reader of the trial.
func (ix *Index) add(line stored, at place) {
	switch line.kind {
	case kindRun:
		ix.open, ix.joined = nil, true
	case kindScenario:
		ix.open = nil
		var sc Scenario
		if decode(line.body, &sc) == nil && ix.scenario(sc.Name) < 0 {
			ix.byName[sc.Name] = len(ix.scenarios)
			ix.scenarios = append(ix.scenarios, IndexedScenario{Name: sc.Name, at: at})
		}
	case kindTrial:
		ix.open = nil
		var head TrialHead
		if decode(line.body, &head) == nil {
			if ix.openIn = ix.scenario(head.Scenario); ix.openIn >= 0 {
				at.n = head.N
				ix.open = &at
			}
		}
	case kindClose:
		ix.open = nil
		var c Close
		if decode(line.body, &c) == nil {
			ix.closed = &c
		}
	case kindEnd:
		ix.finish(at)
	}
}

// finish adds the trial that ends at a line. Trials out of order are left out, as in reports.
func (ix *Index) finish(at place) {
	if ix.open == nil {
		return
	}
	trial := *ix.open
	ix.open = nil
	trial.to = at.to
	sc := &ix.scenarios[ix.openIn]
	if len(sc.Trials) > 0 && trial.n <= sc.Trials[len(sc.Trials)-1] {
		return
	}
	sc.Trials, sc.places = append(sc.Trials, trial.n), append(sc.places, trial)
	ix.trials++
}

// scenario returns the position of a scenario, or -1.
func (ix *Index) scenario(name string) int {
	if i, ok := ix.byName[name]; ok {
		return i
	}
	return -1
}

// ReadScenario reads the head of a scenario.
func (ix *Index) ReadScenario(r io.ReaderAt, name string) (Scenario, error) {
	i := ix.scenario(name)
	if i < 0 {
		return Scenario{}, fmt.Errorf("scenario %.200q: %w", name, ErrNoTrial)
	}
	sc, _, _, err := ix.read(r, ix.scenarios[i].at)
	if err == nil && sc == nil {
		err = fmt.Errorf("scenario %.200q: its line in the recording was changed", name)
	}
	if err != nil {
		return Scenario{}, err
	}
	return *sc, nil
}

// TrialBytes returns the size of a trial in the recording; 0 if it is not there.
func (ix *Index) TrialBytes(scenario string, n int) int64 {
	_, at, err := ix.find(scenario, n)
	if err != nil {
		return 0
	}
	return at.to - at.from
}

func (ix *Index) find(scenario string, n int) (of int, at place, err error) {
	if of = ix.scenario(scenario); of >= 0 {
		if k := slices.Index(ix.scenarios[of].Trials, n); k >= 0 {
			return of, ix.scenarios[of].places[k], nil
		}
	}
	return 0, place{}, fmt.Errorf("trial %d of %.200q: %w", n, scenario, ErrNoTrial)
}

// ReadTrial reads a trial with its scenario, and nothing else of the recording. The trial is nil if
// it is damaged, which the problems describe. The error of an unknown trial wraps ErrNoTrial.
func (ix *Index) ReadTrial(r io.ReaderAt, scenario string, n int) (Scenario, *Trial, []Problem, error) {
	of, at, err := ix.find(scenario, n)
	if err != nil {
		return Scenario{}, nil, nil, err
	}
	sc, trial, problems, err := ix.read(r, ix.scenarios[of].at, at)
	if err == nil && sc == nil {
		err = fmt.Errorf("trial %d of %.200q: its scenario in the recording was changed", n, scenario)
	}
	if err != nil {
		return Scenario{}, nil, nil, err
	}
	return *sc, trial, problems, nil
}

// read reads the first line and the lines at some places, as Read does.
func (ix *Index) read(r io.ReaderAt, places ...place) (sc *Scenario, trial *Trial, problems []Problem, err error) {
	// What is left out is not missing: the index knows whether the recording is closed.
	rd := reader{known: map[string]bool{}, unknown: map[string]bool{}, closed: true}
	for _, p := range append([]place{ix.runPlace}, places...) {
		rd.in = newLines(io.NewSectionReader(r, p.from, p.to-p.from))
		rd.in.Skip(p.line - 1)
		for err = nil; err == nil; {
			err = rd.step()
		}
		if !errors.Is(err, io.EOF) {
			return nil, nil, nil, fmt.Errorf("reading the recording: %w", err)
		}
	}
	for _, e := range rd.out {
		switch {
		case e.Scenario != nil:
			sc = e.Scenario
		case e.Trial != nil:
			trial = e.Trial
		case e.Problem != nil:
			problems = append(problems, *e.Problem)
		}
	}
	return sc, trial, problems, nil
}
