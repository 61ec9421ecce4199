package measure

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// recalledTurns returns the turns whose requests to the model contain the user's message of the turn before, and those
// that began with a restart of the agent and whose requests do not contain it.
func recalledTurns(tr *record.Trial) (recalled, forgot []int) {
	restarts := restartedTurns(tr)
	earlier, before := "", 0
	for i := range tr.Events {
		e := &tr.Events[i].Event
		turn, ok := event.Read[record.Turn](e)
		if !ok || e.N == 0 {
			continue
		}
		after := min(max(turn.Calls, before), len(tr.Calls))
		switch requests := tr.Calls[before:after]; {
		case earlier == "" || len(requests) == 0:
		case contains(tr, requests, earlier):
			recalled = append(recalled, e.N)
		case slices.Contains(restarts, e.N):
			forgot = append(forgot, e.N)
		}
		earlier, before = strings.TrimSpace(turn.User), after
	}
	return recalled, forgot
}

// restartedTurns returns the turns before which a perturbation restarted the agent.
func restartedTurns(tr *record.Trial) (turns []int) {
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if !is[record.Perturbed](e) {
			continue
		}
		if p, err := perturb.Parse(e.Detail); err == nil && p.At == perturb.Turn && p.Do == perturb.Restart {
			turns = append(turns, e.N)
		}
	}
	return turns
}

// contains reports whether a message of the requests contains a text.
func contains(tr *record.Trial, requests []record.Call, text string) bool {
	for i := range requests {
		for _, id := range requests[i].Messages {
			if m, ok := tr.Message(id); ok && strings.Contains(m.Content, text) {
				return true
			}
		}
	}
	return false
}
