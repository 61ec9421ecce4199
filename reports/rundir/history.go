package rundir

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
)

// maxStored limits the findings of a scenario that the history has.
const maxStored = 5

// Entry returns the entry of a run for the history, without id, times, origin, folder and hash, which
// its recording does not contain.
func (s *Side) Entry() history.Entry {
	r := &s.report
	e := history.Entry{Run: history.Run{
		Plan: r.Run.ID, Variant: r.Run.Labels["variant"], Tool: r.Run.Tool, Prices: r.Run.Prices, Labels: r.Run.Labels,
		Verdict: r.Verdict, Interrupted: r.Interrupted, Stopped: r.Stopped, NotRun: r.NotRun, Problems: r.Problems,
		Scenarios: history.Counts(r.Totals.Scenarios), Trials: r.Totals.Trials.Total(),
	}}
	if cost := reports.Find(r.Totals.Measures, "cost_eur"); cost.Known {
		e.CostEUR = cost.Value
	}
	if len(r.Scenarios) == 1 {
		e.Subject = r.Scenarios[0].Name
	}
	if latency := reports.Find(r.Totals.Measures, "latency_p95"); latency.Known {
		e.LatencyP95 = latency.Value
	}
	findings := map[string][]gate.Finding{}
	for i := range r.Scenarios {
		if list := r.Scenarios[i].Findings; r.Scenarios[i].Verdict != gate.Pass && len(list) > 0 {
			findings[r.Scenarios[i].Name] = list[:min(len(list), maxStored)]
		}
	}
	for _, scenario := range s.Scenarios {
		e.Results = append(e.Results, history.Result{Scenario: scenario, Findings: findings[scenario.Name]})
	}
	return e
}

// ExplorationEntry returns the entry of an exploration, as Side.Entry does for a run.
func ExplorationEntry(r *result.Exploration) history.Entry {
	n := r.Count()
	e := history.Entry{Run: history.Run{
		Kind: history.Explored, Subject: r.Scenario, Plan: r.Digest, Tool: r.Tool, Verdict: r.Verdict(),
		Interrupted: r.Stopped == result.UserInterrupt, Trials: len(r.Cells),
		Scenarios: history.Counts{
			Pass: n[result.Survived] + n[result.Degraded], Fail: n[result.Failed], Error: n[result.Errored], Skip: n[result.Unfired],
		},
	}}
	if !e.Interrupted {
		e.Stopped = r.Stopped
	}
	return e
}

// ExperimentEntry returns the entry of an experiment or of the search for a variant, as Side.Entry does for a
// run. require is the requirement of an experiment; see result.Experiment.Judge.
func ExperimentEntry(r *result.Experiment, require string) history.Entry {
	e := history.Entry{Run: history.Run{
		Kind: history.Compared, Subject: r.Name, Plan: r.Digest, Tool: r.Tool, Prices: r.Prices,
		Interrupted: r.Stopped.As == result.Interrupted,
	}}
	e.Verdict, _ = r.Judge(require)
	if r.Tune != nil {
		e.Kind, e.Verdict = history.Tuned, r.JudgeSearch()
	}
	if r.Stopped.As == result.Capped {
		e.Stopped = r.Stopped.Why
	}
	e.Trials = r.Stopped.Trials
	switch {
	case !r.Used.CostKnown:
	case r.Tune == nil:
		e.CostEUR = &r.Used.EUR
	case r.Tune.Used.CostKnown:
		e.CostEUR = new(r.Used.EUR + r.Tune.Used.EUR)
	}
	return e
}

// SideOf returns a run of the history as a side of a comparison, with path as its name.
func SideOf(path string, e *history.Entry) *Side {
	return &Side{Baseline: e.Baseline(), path: path, report: reports.Report{
		Run:     reports.Run{ID: e.Plan, Tool: e.Tool, Prices: e.Prices, Labels: e.Labels},
		Verdict: e.Verdict, Interrupted: e.Interrupted, Stopped: e.Stopped, NotRun: e.NotRun, Problems: e.Problems,
		Totals: reports.Totals{
			Scenarios: reports.Count(e.Scenarios),
			Measures:  []measure.Value{{Name: "cost_eur", Unit: "EUR", Known: e.CostEUR != nil, Value: e.CostEUR}},
		},
	}}
}

// ErrAltered means that a recording was changed after its run.
var ErrAltered = errors.New("the recording was altered")

// FindEntry returns the file in the folder of a run from which ReadEntry reads its entry: the recording, or
// the result of an experiment. See FindRecording for its errors.
func FindEntry(folder string) (string, error) {
	recording, err := FindRecording(folder)
	if err != nil {
		experiment := filepath.Join(folder, ExperimentFile)
		if _, err := os.Stat(experiment); err == nil {
			return experiment, nil
		}
	}
	return recording, err
}

// ReadEntry judges the recording of a run again, or reads the result of an experiment, and returns its entry for
// the history, with the note beside it, if the note belongs to the file. The error of an altered recording wraps
// ErrAltered.
func ReadEntry(ctx context.Context, file string, language *gate.Language) (e history.Entry, err error) {
	if filepath.Base(file) == ExperimentFile {
		r, err := ReadExperiment(file)
		if r == nil || err != nil {
			return e, err
		}
		e = ExperimentEntry(r, "")
	} else if e, err = judgedEntry(ctx, file, language); err != nil {
		return e, err
	}
	return e, addNote(&e.Run, file)
}

// judgedEntry is ReadEntry for a recording, without the note.
func judgedEntry(ctx context.Context, recording string, language *gate.Language) (e history.Entry, err error) {
	if strings.HasSuffix(recording, atomicdir.Partial) {
		return e, fmt.Errorf("%s belongs to a run that is not finished; only finished runs are stored", recording)
	}
	head, err := headOf(recording)
	if err != nil {
		return e, err
	}
	if head.Shard != nil {
		return e, fmt.Errorf("it is shard %d of %d; import the folder that rehearse merge writes", head.Shard.Index, head.Shard.Of)
	}
	side, err := ReadRun(ctx, filepath.Dir(recording), recording, language)
	if err != nil {
		return e, err
	}
	if side.report.Altered {
		return e, fmt.Errorf("%w: %s", ErrAltered, strings.Join(side.report.Problems, "; "))
	}
	exploration, err := ReadExploration(filepath.Dir(recording))
	if exploration == nil || err != nil {
		return side.Entry(), err
	}
	return ExplorationEntry(exploration), nil
}

// addNote locates a run, and adds the note beside its file.
func addNote(r *history.Run, file string) error {
	r.Branch, r.Commit = r.Labels["branch"], r.Labels["commit"]
	if err := Locate(r, file); err != nil {
		return err
	}
	note, err := history.ReadNote(filepath.Join(filepath.Dir(file), history.NoteFile))
	if err != nil {
		return err
	}
	if note != nil && note.SHA256 == r.SHA256 {
		note.Apply(r)
		return nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("find the recording: %w", err)
	}
	r.Began = info.ModTime().UTC() // the recording has no time
	r.ID = history.NewID(r.SHA256, time.Time{}, "")
	return nil
}

// headOf returns the first line of a recording.
func headOf(recording string) (record.Run, error) {
	file, err := os.Open(recording)
	if err != nil {
		return record.Run{}, fmt.Errorf("open the recording: %w", err)
	}
	defer file.Close()
	for entry, err := range record.Read(file) {
		if err != nil {
			return record.Run{}, err
		}
		if entry.Run != nil {
			return *entry.Run, nil
		}
	}
	return record.Run{}, ErrEmpty
}

// Locate sets the folder, the size and the hash of the recording of a run, or of the result of an experiment.
func Locate(r *history.Run, recording string) error {
	file, err := os.Open(recording)
	if err != nil {
		return fmt.Errorf("open the recording: %w", err)
	}
	defer file.Close()
	sum := sha256.New()
	if r.Bytes, err = io.Copy(sum, file); err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	r.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if r.Folder, err = filepath.Abs(filepath.Dir(recording)); err != nil {
		return fmt.Errorf("find the folder of the recording: %w", err)
	}
	return nil
}

// WriteNote writes when and how a result was made beside its file, and completes r with it, with the
// folder, the size and the hash of the file, and with an id.
func WriteNote(out *atomicdir.Folder, file string, from reports.Origin, r *history.Run) error {
	err := Locate(r, filepath.Join(out.Path(), file))
	if err != nil {
		return err
	}
	r.Began, r.Ended, r.Origin = from.Began, from.Ended, from.Origin
	r.Branch, r.Commit = cmp.Or(r.Labels["branch"], r.Branch), cmp.Or(r.Labels["commit"], r.Commit) // of merged shards
	r.ID = history.NewID(r.SHA256, r.Began, r.Folder)
	note := history.NoteOf(r)
	note.By = from.By
	if note.Timings, err = sumFile(filepath.Join(out.Path(), timingsFile)); err != nil {
		return err
	}
	if note.Exploration, err = sumFile(filepath.Join(out.Path(), ExplorationFile)); err != nil {
		return err
	}
	files, err := createFiles(out, []part{{history.NoteFile, note.Write}})
	if err != nil {
		return err
	}
	return out.Commit(files...)
}

// OriginOf returns when and how the result in a file was made; zero if nothing beside it has that.
func OriginOf(file string) reports.Origin {
	note, err := noteOf(file)
	if err != nil || note == nil { // a report is not worse without one
		return reports.Origin{}
	}
	return reports.Origin{Began: note.Began, Ended: note.Ended, By: note.By, Origin: note.Origin}
}

// noteOf returns the note beside a file; nil without one, or if it is that of another file.
func noteOf(recording string) (*history.Note, error) {
	note, err := history.ReadNote(filepath.Join(filepath.Dir(recording), history.NoteFile))
	if note == nil || err != nil {
		return nil, err
	}
	var run history.Run
	if err := Locate(&run, recording); err != nil || run.SHA256 != note.SHA256 {
		return nil, err
	}
	return note, nil
}
