package measure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// recalledTurns returns which of the user's messages of earlier turns the requests of each turn contain, such as "turn 1 in
// turn 3", and which those of the turns that began with a restart of the agent do not.
func recalledTurns(tr *record.Trial) (recalled, forgot []string) {
	var restarts []int // turns
	var earlier []*event.Event
	before := 0
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if p, ok := event.Read[record.Perturbed](e); ok && p.Restarted {
			restarts = append(restarts, e.N)
		}
		turn, ok := event.Read[record.Turn](e)
		if !ok || e.N == 0 {
			continue
		}
		after := min(max(turn.Calls, before), len(tr.Calls))
		requests := tr.Calls[before:after]
		for _, old := range earlier {
			name := fmt.Sprintf("turn %d in turn %d", old.N, e.N)
			said, _ := event.Read[record.Turn](old)
			switch {
			case strings.TrimSpace(said.User) == "" || len(requests) == 0:
			case contains(tr, requests, said.User):
				recalled = append(recalled, name)
			case slices.Contains(restarts, e.N):
				forgot = append(forgot, name)
			}
		}
		earlier, before = append(earlier, e), after
	}
	return recalled, forgot
}

// contains reports whether a message of the requests contains a text, perhaps in JSON or with other white space.
func contains(tr *record.Trial, requests []record.Call, text string) bool {
	text = foldSpace(text)
	for i := range requests {
		for _, id := range requests[i].Messages {
			m, ok := tr.Message(id)
			if !ok {
				continue
			}
			plain := unescape(m.Content)
			if slices.ContainsFunc([]string{m.Content, plain, unescape(plain)}, func(content string) bool {
				return strings.Contains(foldSpace(content), text)
			}) {
				return true
			}
		}
	}
	return false
}

// foldSpace returns a text with one space for all white space in a row.
func foldSpace(text string) string { return strings.Join(strings.Fields(text), " ") }

// escapes matches escaped characters of JSON strings; those by code stay together, because two may be one character.
var escapes = lazyregexp.New(`(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]`)

// unescape undoes the escapes of JSON in a text, which may have JSON in it.
func unescape(text string) string {
	return escapes().ReplaceAllStringFunc(text, func(escaped string) (plain string) {
		if json.Unmarshal([]byte(`"`+escaped+`"`), &plain) != nil {
			return escaped
		}
		return plain
	})
}
