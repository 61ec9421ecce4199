package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// A run in progress is known by its recording, which grows: the same whether this process or another one
// writes it. Each trial is judged once, when it is complete.

// live is what was read of a run in progress.
type live struct {
	mu     sync.Mutex
	counts reports.Count
	byName map[string]*liveScenario
	order  []*liveScenario
	list   rundir.Listing
	// version grows with each change, so that each reader knows what is new to it.
	version int
	// began is when the reading of this recording began: versions before it mean something else.
	began time.Time
}

// liveScenario is a scenario of a run in progress.
type liveScenario struct {
	Name, Link string
	Counts     reports.Count
	Finding    string
	read       int // trials
	index      int
	version    int // of live, when it changed
}

// Verdict is that of the trials so far.
func (l *liveScenario) Verdict() gate.Verdict { return l.Counts.Verdict() }

// State is the state of a run in progress.
type state string

const (
	running state = "running"
	cutOff  state = "cut off"
	done    state = "done"
)

// Progress are the counters of a run in progress.
type progress struct {
	State   state         `json:"state"`
	Done    int           `json:"done"`
	Planned int           `json:"planned"`
	Counts  reports.Count `json:"counts"`
	// Text is the progress in words.
	Text string `json:"text"`
}

// slice is the time in which one reading judges trials, so that a page of a long run comes at once.
const slice = 200 * time.Millisecond

// errPaused ends a reading that goes on later.
var errPaused = errors.New("paused")

// read reads what is new for at most slice, and returns the progress, the scenarios that changed since a
// mark in the order of their changes, and the mark of now.
func (o *opened) read(ctx context.Context, id string, since mark) (p progress, changed []liveScenario, now mark, err error) {
	l := &o.live
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := atomicdir.Busy(o.folder)
	list, err := o.trials.List()
	if err != nil {
		return p, nil, since, err
	}
	at := o.clock.Now()
	if l.byName == nil || list.Run.ID != l.list.Run.ID || list.Trials < l.list.Trials { // another run in the same folder
		l.counts, l.byName, l.order, l.version, l.began = reports.Count{}, map[string]*liveScenario{}, nil, 0, at
	}
	l.list = list
	end := at.Add(slice)
	behind := false
	for _, s := range list.Scenarios {
		sc := l.scenario(id, s.Name)
		if sc.read == len(s.Trials) {
			continue
		}
		err := o.trials.Each(ctx, s.Name, s.Trials[sc.read:], func(j *rundir.JudgedTrial) error {
			l.add(sc, j)
			if o.clock.Now().After(end) {
				return errPaused
			}
			return nil
		})
		if behind = errors.Is(err, errPaused); behind {
			break
		}
		if err != nil {
			return p, nil, since, err
		}
	}
	for _, sc := range l.order {
		if sc.version > since.version {
			changed = append(changed, *sc)
		}
	}
	slices.SortFunc(changed, func(a, b liveScenario) int { return a.version - b.version })
	p = progress{State: running, Done: l.counts.Total(), Planned: list.Run.Trials, Counts: l.counts}
	switch {
	case behind || writing: // a complete recording may not be in the history yet
	case list.Partial:
		p.State = cutOff
	default:
		p.State = done
	}
	p.Text = fmt.Sprintf("%d of %d trials", p.Done, p.Planned)
	if text := l.counts.String(); p.Done > 0 {
		p.Text += ": " + text
	}
	return p, changed, mark{l.began.UnixNano(), l.version}, nil
}

func (l *live) scenario(id, name string) *liveScenario {
	sc := l.byName[name]
	if sc == nil {
		sc = &liveScenario{Name: name, Link: scenarioLink(id, name), index: len(l.order)}
		l.byName[name], l.order = sc, append(l.order, sc)
	}
	return sc
}

func (l *live) add(sc *liveScenario, j *rundir.JudgedTrial) {
	sc.read++
	l.version++
	sc.version = l.version
	verdict := gate.Error
	if j.Trial != nil {
		verdict = gate.VerdictOf(j.Findings)
	}
	l.counts.Add(verdict)
	sc.Counts.Add(verdict)
	if verdict != gate.Pass && sc.Finding == "" && len(j.Findings) > 0 {
		sc.Finding = j.Findings[0].Rule + ": " + j.Findings[0].Message
	}
}

// liveRow is a run in progress in the list of runs.
type liveRow struct{ Link, Folder, Text string }

// liveRows returns the runs that are not finished, the newest first.
func (s *Server) liveRows() []liveRow {
	var rows []liveRow
	for _, folder := range s.unfinished() {
		row := liveRow{Link: runLink(liveID(folder)), Folder: filepath.Base(folder), Text: string(cutOff)}
		if atomicdir.Busy(folder) {
			row.Text = string(running)
		}
		rows = append(rows, row)
	}
	return rows
}

// maxLooked limits the folders that are looked at for runs in progress, the newest by their names.
const maxLooked = 200

// folders returns the folders in which runs may be in progress.
func (s *Server) folders() []string {
	list := append([]string{}, s.opts.Follow...)
	if s.opts.Runs == "" {
		return list
	}
	entries, _ := os.ReadDir(s.opts.Runs) // without the folder there are no runs
	for i := len(entries) - 1; i >= max(0, len(entries)-maxLooked); i-- {
		if entries[i].IsDir() {
			list = append(list, filepath.Join(s.opts.Runs, entries[i].Name()))
		}
	}
	return list
}

// unfinished returns the folders with a partial recording.
func (s *Server) unfinished() []string {
	var list []string
	seen := map[string]bool{}
	for _, folder := range s.folders() {
		if id := liveID(folder); !seen[id] && rundir.Unfinished(folder) {
			seen[id] = true
			list = append(list, folder)
		}
	}
	return list
}

// LivePath returns the path of the page of a run that writes to a folder.
func LivePath(folder string) string { return runLink(liveID(folder)) }

const livePrefix = "live-"

// liveID is the id of the run in a folder. Addresses have the hash of a folder and never a path.
func liveID(folder string) string {
	if full, err := filepath.Abs(folder); err == nil {
		folder = full
	}
	sum := sha256.Sum256([]byte(folder))
	return livePrefix + hex.EncodeToString(sum[:6])
}

// liveFolder returns the folder of a run in progress, or of one that was; empty for other ids.
func (s *Server) liveFolder(id string) string {
	if !strings.HasPrefix(id, livePrefix) {
		return ""
	}
	for _, folder := range s.folders() {
		if liveID(folder) == id {
			if full, err := filepath.Abs(folder); err == nil {
				return full
			}
			return folder
		}
	}
	return ""
}

// livePage is a run in progress.
type livePage struct {
	frame
	ID, Folder string
	Progress   progress
	Rows       []*liveScenario
	More       int
	Problem    string
}

func (s *Server) liveRun(w http.ResponseWriter, r *http.Request, id, folder string) error {
	o := s.open(folder)
	p := livePage{frame: s.frame("Run in progress", crumb{"/", "Runs"}), ID: id, Folder: filepath.Base(folder)}
	if to := s.finished(r.Context(), o); to != "" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil
	}
	var err error
	if p.Progress, _, _, err = o.read(r.Context(), id, mark{}); err != nil {
		return err
	}
	o.live.mu.Lock()
	p.Rows = o.live.order[:min(len(o.live.order), scenariosShown)]
	p.More = len(o.live.order) - len(p.Rows)
	rows := make([]*liveScenario, len(p.Rows))
	for i, row := range p.Rows {
		rows[i] = new(*row)
	}
	o.live.mu.Unlock()
	p.Rows = rows
	show(w, http.StatusOK, "live", p)
	return nil
}

// finished returns the page of a finished run in the history; empty if it is not there (yet).
func (s *Server) finished(ctx context.Context, o *opened) string {
	const looked = 50
	if atomicdir.Busy(o.folder) {
		return ""
	}
	list, err := o.trials.List()
	if err != nil || list.Partial {
		return ""
	}
	st, err := s.past(ctx)
	if err != nil || st == nil {
		return "" // the page of the folder has the result
	}
	defer func() { _ = st.Close() }() // it was only read
	runs, err := st.Runs(ctx, history.Filter{Limit: looked, All: true})
	if err != nil {
		return ""
	}
	for i := range runs {
		if runs[i].Folder == o.folder && runs[i].Bytes == list.Bytes {
			return runLink(runs[i].ID)
		}
	}
	return ""
}
