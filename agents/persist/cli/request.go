package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// requestsFolder is the folder, in the folder of the state, of requests to the process that works on the plan.
// A request is a file that appears complete; the reply to it has the same name with another suffix.
const (
	requestsFolder = "requests"
	requestSuffix  = ".json"
	replySuffix    = ".reply"
)

// maxRequest limits the size of a request, in bytes: a plan as a JSON string.
const maxRequest = 2*yamlsrc.MaxBytes + 64<<10

// request is an amendment, if Task is empty, or an answer.
type request struct {
	Plan string `json:"plan,omitempty"` // the text of the plan
	Task string `json:"task,omitempty"`
	Text string `json:"text,omitempty"`
}

// reply is the result of a request. Refused is empty if it was recorded.
type reply struct {
	Refused string `json:"refused,omitempty"`
}

// Recorded is the way in which an answer or an amendment is recorded.
type Recorded int

const (
	// Stored means that it was stored, because no process works on the plan.
	Stored Recorded = iota
	// Taken means that the process that works on the plan recorded it.
	Taken
	// Waiting means that this process records it before it begins its next task.
	Waiting
)

// ask writes a request to the process that works on the plan, and waits two seconds for the reply.
func (j *Job) ask(q request) (Recorded, error) {
	folder := filepath.Join(j.State, requestsFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return Waiting, stateError(err)
	}
	data, err := json.Marshal(q)
	if err != nil {
		return Waiting, err
	}
	path := filepath.Join(folder, fmt.Sprintf("%020d-%d", j.clock.Now().UnixNano(), os.Getpid()))
	if err := atomicdir.Replace(path+requestSuffix, data); err != nil {
		return Waiting, stateError(err)
	}
	const tries, pause = 40, 50 * time.Millisecond
	for range tries {
		if data, err := os.ReadFile(path + replySuffix); err == nil {
			_ = os.Remove(path + replySuffix)
			return Taken, refusal(data)
		}
		_ = j.clock.Sleep(context.Background(), pause) // it is short
	}
	return Waiting, nil
}

// refusal returns the error in a reply; nil if the request was recorded.
func refusal(data []byte) error {
	var r reply
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("read the reply of the running supervisor: %w", err)
	}
	if r.Refused != "" {
		return fmt.Errorf("the running supervisor refused it: %s", r.Refused)
	}
	return nil
}

// requests returns the paths of the pending requests, the oldest first. It removes replies that nobody has read
// for an hour.
func (j *Job) requests() (names []string) {
	folder := filepath.Join(j.State, requestsFolder)
	entries, _ := os.ReadDir(folder) // usually it does not exist
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch info, err := e.Info(); {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(e.Name(), requestSuffix):
			names = append(names, path)
		case j.clock.Now().Sub(info.ModTime()) > time.Hour:
			_ = os.Remove(path)
		}
	}
	slices.Sort(names)
	return names
}

func readRequest(path string) (q request, err error) {
	data, err := input.ReadFile("request", path, maxRequest)
	if err == nil {
		err = json.Unmarshal(data, &q)
	}
	return q, err
}

// finishRequest prints the error of a refused request, writes the reply and then removes the request. After a
// crash in between, the request is repeated, and refused if it was recorded.
func finishRequest(v *view, path string, refused error) {
	var r reply
	if refused != nil {
		r.Refused = refused.Error()
		v.Print("         a request was refused: " + v.Clean(r.Refused))
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = atomicdir.Replace(strings.TrimSuffix(path, requestSuffix)+replySuffix, data)
	}
	_ = errors.Join(err, os.Remove(path)) // nobody may be waiting
}

// requestedPlan returns the plan of an amendment, with the limits that flags may have changed.
func (j *Job) requestedPlan(text string) (plan.Plan, error) {
	p, found := ParsePlan(j.File, []byte(text))
	if err := found.Err(); err != nil {
		return p, err
	}
	if p.Name != j.Plan.Name {
		return p, fmt.Errorf("the name of the plan changed from %s to %s", j.Plan.Name, p.Name)
	}
	p.Limits.Budget, p.Limits.Timeout = j.Plan.Limits.Budget, j.Plan.Limits.Timeout
	return p, nil
}

// liveRequests returns persist.Deps.Requests. Build returns the workers, probes and commands of a plan.
func (j *Job) liveRequests(v *view, build func(p plan.Plan) (persist.Request, error)) func() []persist.Request {
	return func() (all []persist.Request) {
		for _, path := range j.requests() {
			q, err := readRequest(path)
			made := persist.Request{Task: q.Task, Text: q.Text}
			if err == nil && q.Task == "" {
				var p plan.Plan
				if p, err = j.requestedPlan(q.Plan); err == nil {
					made, err = build(p)
				}
			}
			if err != nil {
				finishRequest(v, path, err)
				continue
			}
			made.Done = func(refused error) {
				if refused == nil && made.Task == "" {
					j.Plan = made.Plan
					v.plan(made.Plan)
				}
				finishRequest(v, path, refused)
			}
			all = append(all, made)
		}
		return all
	}
}

// takeRequests records the requests that are left from the last run.
func (j *Job) takeRequests(v *view) error {
	for _, path := range j.requests() {
		q, refused := readRequest(path)
		if refused == nil {
			store, err := j.openBegun()
			if err != nil {
				return err
			}
			refused = errors.Join(j.record(q, store), store.Close())
		}
		finishRequest(v, path, refused)
	}
	return nil
}

func (j *Job) record(q request, store journal.Store) error {
	if q.Task != "" {
		return persist.Answer(j.Plan, store, q.Task, q.Text)
	}
	p, err := j.requestedPlan(q.Plan)
	if err != nil {
		return err
	}
	a, err := persist.PrepareAmendment(p, store)
	if err != nil {
		return err
	}
	return a.Record()
}

// preview compares the plan with the stored plan, on which another process works.
func (j *Job) preview() (*persist.Amendment, error) {
	view, err := journal.View(j.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("amend the plan: it has not begun: there is no state in %s", j.State)
	}
	if err != nil {
		return nil, stateError(err)
	}
	defer func() { _ = view.Close() }() // it was only read
	return persist.PreviewAmendment(j.Plan, view)
}
