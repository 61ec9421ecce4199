package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Tally counts the decisions on the stops of a host's sessions. The counts are of the
// sessions still remembered: those of the last 30 days, at most 1000.
type Tally struct {
	Host     Host `json:"host"`
	Sessions int  `json:"sessions"`
	// Allowed may stop by the verdict; Blocked were refused; WouldBlock would have
	// been but for shadow mode.
	Allowed    int `json:"allowed"`
	Blocked    int `json:"blocked"`
	WouldBlock int `json:"would_block"`
	// Capped and Repeated were let through although work was announced: after the
	// most refusals in a row, and for the same message again. Orphaned too: what
	// was remembered had been lost.
	Capped   int `json:"capped"`
	Repeated int `json:"repeated"`
	Orphaned int `json:"orphaned"`
	// Skipped were not judged (aborted, planning, work in the background, a
	// subagent); Unjudged had no message that could be found.
	Skipped  int `json:"skipped"`
	Unjudged int `json:"unjudged"`
}

// Tallies counts the decisions in a state folder, given as in Config.State, by host. A missing
// folder has none.
func Tallies(ctx context.Context, folder string) ([]Tally, error) {
	dir, err := stateFolder(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the state folder: %w; choose another one with --state", err)
	}
	s := store{dir: dir}
	byHost := map[Host]*Tally{}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if !ours().MatchString(e.Name()) || strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		m := s.read(e.Name())
		if !m.known {
			continue
		}
		if byHost[m.Host] == nil {
			byHost[m.Host] = &Tally{Host: m.Host}
		}
		byHost[m.Host].add(m)
	}
	var all []Tally
	for _, host := range Hosts() {
		if t := byHost[host]; t != nil {
			all = append(all, *t)
		}
	}
	return all, nil
}

func (t *Tally) add(m memory) {
	t.Sessions++
	t.Allowed += m.Counts[allowed]
	t.Blocked += m.Counts[blocked]
	t.WouldBlock += m.Counts[wouldBlock]
	t.Capped += m.Counts[capped]
	t.Repeated += m.Counts[repeated]
	t.Orphaned += m.Counts[orphaned]
	t.Skipped += m.Counts[skipped]
	t.Unjudged += m.Counts[unjudged]
}
