package rundir

import (
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

// ReadEntry judges the recording of a run again and returns its entry for the history, with the note
// beside it, if the note belongs to the recording. The error of an altered recording wraps ErrAltered.
func ReadEntry(ctx context.Context, recording string, language *gate.Language) (e history.Entry, err error) {
	folder := filepath.Dir(recording)
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
	side, err := ReadRun(ctx, folder, recording, language)
	if err != nil {
		return e, err
	}
	if side.report.Altered {
		return e, fmt.Errorf("%w: %s", ErrAltered, strings.Join(side.report.Problems, "; "))
	}
	e = side.Entry()
	e.Branch, e.Commit = e.Labels["branch"], e.Labels["commit"]
	if err := Locate(&e.Run, recording); err != nil {
		return e, err
	}
	note, err := history.ReadNote(filepath.Join(folder, history.NoteFile))
	if err != nil {
		return e, err
	}
	if note != nil && note.SHA256 == e.SHA256 {
		note.Apply(&e.Run)
		return e, nil
	}
	info, err := os.Stat(recording)
	if err != nil {
		return e, fmt.Errorf("find the recording: %w", err)
	}
	e.Began = info.ModTime().UTC() // the recording has no time
	e.ID = history.NewID(e.SHA256, time.Time{}, "")
	return e, nil
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

// Locate sets the folder, the size and the hash of the recording of a run.
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
	if err := Locate(r, filepath.Join(out.Path(), file)); err != nil {
		return err
	}
	r.Began, r.Ended, r.Origin = from.Began, from.Ended, from.Origin
	r.ID = history.NewID(r.SHA256, r.Began, r.Folder)
	files, err := createFiles(out, []part{{history.NoteFile, history.NoteOf(r).Write}})
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
	return reports.Origin{Began: note.Began, Ended: note.Ended, Origin: note.Origin}
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
