package persist

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// fingerprint identifies a plan by its goal and tasks. Limits, retries, timeouts, acceptance commands,
// settings of workers and probes are not part of it, because they may change during a run.
type fingerprint struct {
	// Version is 1 if the tasks have their structure.
	Version int               `json:"version,omitempty"`
	Goal    string            `json:"goal"`
	Tasks   []taskFingerprint `json:"tasks"`
}

// taskFingerprint identifies a task. After and Skip are part of its digest; together with the id they
// are the structure of the plan, which an amendment needs. States of earlier versions have only the
// digest.
type taskFingerprint struct {
	ID     string   `json:"id"`
	Digest string   `json:"digest"`
	After  []string `json:"after,omitempty"`
	Skip   bool     `json:"skip,omitempty"`
}

func fingerprintOf(p plan.Plan) (fingerprint, error) {
	f := fingerprint{Version: 1, Goal: shortHash([]byte(p.Goal)), Tasks: make([]taskFingerprint, len(p.Tasks))}
	for i, t := range p.Tasks {
		t.Retries, t.Timeout, t.Accept = nil, 0, nil
		data, err := json.Marshal(t)
		if err != nil {
			return fingerprint{}, fmt.Errorf("reading the input of the task %q: %w", t.ID, err)
		}
		f.Tasks[i] = taskFingerprint{ID: t.ID, Digest: shortHash(data), After: t.After, Skip: t.Skip != ""}
	}
	return f, nil
}

// digest returns a hash of the whole fingerprint.
func (f fingerprint) digest() string {
	hash := sha256.New()
	fmt.Fprintln(hash, f.Goal)
	for _, t := range f.Tasks {
		fmt.Fprintln(hash, t.ID, t.Digest)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

func (f fingerprint) changes(now fingerprint) *PlanChanged {
	e := &PlanChanged{Goal: f.Goal != now.Goal}
	before := make(map[string]string, len(f.Tasks))
	for _, t := range f.Tasks {
		before[t.ID] = t.Digest
	}
	for i, t := range now.Tasks {
		if old, known := before[t.ID]; !known {
			e.Added = append(e.Added, t.ID)
		} else if old != t.Digest {
			e.Changed = append(e.Changed, t.ID)
		}
		delete(before, t.ID)
		e.Order = e.Order || i < len(f.Tasks) && f.Tasks[i].ID != t.ID
	}
	for _, t := range f.Tasks {
		if _, gone := before[t.ID]; gone {
			e.Removed = append(e.Removed, t.ID)
		}
	}
	return e
}

func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
