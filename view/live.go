package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
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
// version, and the version now.
func (o *opened) read(ctx context.Context, id string, since int) (p progress, changed []liveScenario, version int, err error) {
	l := &o.live
	l.mu.Lock()
	defer l.mu.Unlock()
	writing := atomicdir.Busy(o.folder)
	list, err := o.trials.List()
	if err != nil {
		return p, nil, since, err
	}
	if list.Run.ID != l.list.Run.ID || list.Trials < l.list.Trials { // another run in the same folder
		l.counts, l.byName, l.order = reports.Count{}, map[string]*liveScenario{}, nil
	}
	l.list = list
	end := o.clock.Now().Add(slice)
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
		if sc.version > since {
			changed = append(changed, *sc)
		}
	}
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
	return p, changed, l.version, nil
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
	if p.Progress, _, _, err = o.read(r.Context(), id, 0); err != nil {
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
	runs, err := st.Runs(ctx, history.Filter{Limit: looked})
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

// events sends the progress of a run as server-sent events: "progress" with the counters, "result" with a
// scenario, and "done" with the address of the page to go to. A client that reconnects begins with the whole state.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	folder := s.liveFolder(id)
	if folder == "" {
		s.fail(w, notFound("there is no run in progress with the id %.100q", id))
		return
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	w.Header().Set("Content-Type", "text/event-stream")
	stream := eventStream{w: w, flush: http.NewResponseController(w)}
	o := s.open(folder)
	last, since, sent := progress{}, 0, s.opts.Clock.Now()
	type doneEvent struct {
		Link string `json:"link"`
	}
	for {
		if to := s.finished(r.Context(), o); to != "" {
			stream.send("done", doneEvent{to})
			return
		}
		p, changed, version, err := o.read(r.Context(), id, since)
		if err != nil {
			stream.send("problem", err.Error())
			return
		}
		if p != last {
			stream.send("progress", p)
			last, sent = p, s.opts.Clock.Now()
		}
		for i := range changed {
			if changed[i].index < scenariosShown || changed[i].Verdict() != gate.Pass {
				stream.send("result", resultOf(&changed[i]))
			}
		}
		since = version
		if p.State != running {
			stream.send("done", doneEvent{s.finished(r.Context(), o)}) // it may have been finished since
			return
		}
		if s.opts.Clock.Now().Sub(sent) > heartbeat {
			stream.comment()
			sent = s.opts.Clock.Now()
		}
		if stream.err != nil || s.opts.Clock.Sleep(r.Context(), s.opts.Poll) != nil {
			return
		}
	}
}

// result is a scenario in a stream of events; the page has a row for it, or gets one.
type result struct {
	Index   int          `json:"index"`
	Name    string       `json:"name"`
	Link    string       `json:"link"`
	Verdict gate.Verdict `json:"verdict"`
	Sign    string       `json:"sign"`
	Trials  string       `json:"trials"`
	Finding string       `json:"finding"`
}

func resultOf(l *liveScenario) result {
	return result{
		l.index, sanitize.Line(l.Name, maxTitle), l.Link, l.Verdict(), signs[l.Verdict()], l.Counts.String(), sanitize.Line(l.Finding, maxSample),
	}
}

// eventStream writes server-sent events until the first error.
type eventStream struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	n     int
	err   error
}

func (e *eventStream) send(kind string, data any) {
	text, err := json.Marshal(data) // one line: JSON escapes line breaks
	if err != nil {
		e.err = err
		return
	}
	e.n++
	e.write("id: %d\nevent: %s\ndata: %s\n\n", e.n, kind, text)
}

func (e *eventStream) comment() { e.write(":\n\n") }

func (e *eventStream) write(format string, args ...any) {
	if e.err != nil {
		return
	}
	if _, e.err = fmt.Fprintf(e.w, format, args...); e.err == nil {
		e.err = e.flush.Flush()
	}
}
