package rundir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
)

// maxTrialBytes limits a trial that Trials reads, and thereby its memory, which is a small multiple.
const maxTrialBytes = 32 << 20

// ErrTrialTooLarge is the error of a trial above the limit of Trials.
var ErrTrialTooLarge = errors.New("the trial is too large")

// Trials reads single trials of a recording by their places in it, so that time and memory depend on the
// trial and not on the recording. The recording may still be written. It is safe for concurrent use.
type Trials struct {
	folder   string
	language *gate.Language

	mu    sync.Mutex
	path  string
	size  int64
	index record.Index
}

// NewTrials returns the trials of the recording in the folder of a run. Nothing is read yet.
func NewTrials(folder string, language *gate.Language) *Trials {
	return &Trials{folder: folder, language: language}
}

// Listing is what a recording has.
type Listing struct {
	Run       record.Run
	Scenarios []ListedScenario
	// Trials counts the complete trials.
	Trials int
	// Closed is the last line; nil if it is missing.
	Closed *record.Close
	// Bytes is the size of the recording.
	Bytes int64
	// Partial is true if the run has not finished, or was cut off.
	Partial bool
}

// ListedScenario is a scenario of a Listing with the numbers of its complete trials.
type ListedScenario struct {
	Name   string
	Trials []int
}

// List returns what the recording has now.
func (t *Trials) List() (l Listing, err error) {
	err = t.use(func(*os.File) error {
		l = Listing{
			Run: t.index.Run(), Trials: t.index.Trials(), Closed: t.index.Closed(),
			Bytes: t.size, Partial: strings.HasSuffix(t.path, atomicdir.Partial),
		}
		for _, s := range t.index.Scenarios() {
			l.Scenarios = append(l.Scenarios, ListedScenario{s.Name, slices.Clone(s.Trials)})
		}
		return nil
	})
	return l, err
}

// JudgedTrial is a trial that was read and judged.
type JudgedTrial struct {
	Scenario record.Scenario
	// Trial is nil if it is damaged, as Problems describe.
	Trial    *record.Trial
	Facts    measure.Facts
	Findings []gate.Finding
	Problems []string
}

// Scenario returns the head of a scenario. The error of an unknown one wraps record.ErrNoTrial.
func (t *Trials) Scenario(name string) (sc record.Scenario, err error) {
	err = t.use(func(file *os.File) error {
		sc, err = t.index.ReadScenario(file, name)
		return err
	})
	return sc, err
}

// Each reads and judges trials of a scenario, one after the other, and passes each to visit. The error
// of an unknown trial wraps record.ErrNoTrial, that of a large one ErrTrialTooLarge.
func (t *Trials) Each(ctx context.Context, scenario string, numbers []int, visit func(*JudgedTrial) error) error {
	sc, err := t.Scenario(scenario)
	if err != nil {
		return err
	}
	var timings []record.Timing
	if sc.RealTime {
		timings, err = readTimings(beside(t.recording(), timingsFile), func(r io.Reader) ([]record.Timing, error) {
			return record.ReadTimingsOf(contextReader{ctx, r}, scenario)
		})
		if err != nil {
			return err
		}
	}
	judge := reports.Rejudge(t.language, timings)
	for _, n := range numbers {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		j, err := t.read(scenario, n)
		if err == nil && j.Trial != nil {
			j.Facts, j.Findings, err = judge(j.Scenario, *j.Trial)
		}
		if err == nil {
			err = visit(&j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Trials) recording() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.path
}

func (t *Trials) read(scenario string, n int) (j JudgedTrial, err error) {
	err = t.use(func(file *os.File) error {
		if size := t.index.TrialBytes(scenario, n); size > maxTrialBytes {
			return fmt.Errorf("trial %d of %.200q: %w: it has %s MB, and the limit is %s MB; the recording has it",
				n, scenario, ErrTrialTooLarge, format.Number(float64(size>>20)), format.Number(maxTrialBytes>>20))
		}
		var problems []record.Problem
		j.Scenario, j.Trial, problems, err = t.index.ReadTrial(file, scenario, n)
		for _, p := range problems {
			j.Problems = append(j.Problems, p.String())
		}
		return err
	})
	return j, err
}

// use calls do with the open recording, whose index is up to date.
func (t *Trials) use(do func(*os.File) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	path, err := FindRecording(t.folder)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the recording: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("find the recording: %w", err)
	}
	if err := t.index.Update(file, info.Size()); err != nil {
		return err
	}
	t.path, t.size = path, info.Size()
	return do(file)
}

// Unfinished reports whether the folder of a run has the recording of one that is in progress or was cut off.
func Unfinished(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, RecordingFile+atomicdir.Partial))
	return err == nil
}
