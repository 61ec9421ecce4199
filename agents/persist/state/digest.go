package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Fingerprint tells plans apart by what their tasks mean. Limits, retries,
// timeouts, workers' settings and probes are no part of it: they may be changed
// while a plan is carried out.
type Fingerprint struct {
	Goal  string  `json:"goal"`
	Tasks []Print `json:"tasks"`
}

// Print is the fingerprint of a task.
type Print struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

// FingerprintOf returns that of a plan.
func FingerprintOf(p plan.Plan) (Fingerprint, error) {
	f := Fingerprint{Goal: digest([]byte(p.Goal)), Tasks: make([]Print, len(p.Tasks))}
	for i, t := range p.Tasks {
		t.Retries, t.Timeout = nil, 0
		data, err := json.Marshal(t)
		if err != nil {
			return Fingerprint{}, fmt.Errorf("reading the input of the task %q: %w", t.ID, err)
		}
		f.Tasks[i] = Print{t.ID, digest(data)}
	}
	return f, nil
}

// Digest stands for all of it.
func (f Fingerprint) Digest() string {
	hash := sha256.New()
	fmt.Fprintln(hash, f.Goal)
	for _, t := range f.Tasks {
		fmt.Fprintln(hash, t.ID, t.Digest)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// Changes returns the ids of the tasks of now that differ from f's, that are new, and
// those of f that are gone; moved says that the same tasks have another order.
func (f Fingerprint) Changes(now Fingerprint) (changed, added, removed []string, moved bool) {
	before := make(map[string]string, len(f.Tasks))
	for _, t := range f.Tasks {
		before[t.ID] = t.Digest
	}
	for i, t := range now.Tasks {
		switch old, known := before[t.ID]; {
		case !known:
			added = append(added, t.ID)
		case old != t.Digest:
			changed = append(changed, t.ID)
		}
		delete(before, t.ID)
		moved = moved || i < len(f.Tasks) && f.Tasks[i].ID != t.ID
	}
	for _, t := range f.Tasks {
		if _, gone := before[t.ID]; gone {
			removed = append(removed, t.ID)
		}
	}
	return changed, added, removed, moved
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
