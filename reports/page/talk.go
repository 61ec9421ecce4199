package page

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
)

// Bounds on what is shown of a conversation.
const (
	maxTurns = 200
	maxFiles = 100
)

// talk is the conversation with an external agent, and its files.
type talk struct {
	Turns []turn
	More  int // turns beyond those shown
	Files []leftFile
	// MoreFiles counts further files.
	MoreFiles int
	// Log is the output of the agent besides its answers; may be nil.
	Log *text
}

// turn is a message of the user with its answer.
type turn struct {
	N      int
	User   text
	Answer *text
	Error  string
	// Calls link to the first and last call of the turn; Made counts them.
	Calls []reference
	Made  string
	Facts []fact
}

// leftFile is a file of the workspace.
type leftFile struct {
	Path, Size string
	Text       text
}

// talk returns nil without a conversation.
func (v view) talk() *talk {
	if len(v.facts.Turns) == 0 {
		return nil
	}
	out := &talk{More: max(0, len(v.facts.Turns)-maxTurns)}
	first := 0
	for _, t := range v.facts.Turns[:len(v.facts.Turns)-out.More] {
		shown := turn{N: t.N, User: newText(t.User, nil), Made: format.Count(t.Calls, "call")}
		if shown.Error = line(t.Error, 2000); v.inFindings(t.Error) {
			head, _, _ := strings.Cut(t.Error, "\n")
			shown.Error = line(head, 2000)
		}
		if t.Error == "" {
			answer := newText(t.Text, nil)
			shown.Answer = &answer
		}
		shown.Calls = v.callLinks(first, first+t.Calls)
		first += t.Calls
		for _, key := range slices.Sorted(maps.Keys(t.Attrs)) {
			if value := attr(t.Attrs[key]); value != "" {
				shown.Facts = append(shown.Facts, fact{line(words(key), 60), value})
			}
		}
		out.Turns = append(out.Turns, shown)
	}
	for i := range v.trial.Events {
		out.keep(v.trial.Events[i].Event)
	}
	return out
}

// keep adds a file or the log.
func (t *talk) keep(e event.Event) {
	recorded, isFile := event.Read[record.File](&e)
	switch {
	case !measure.IsConversation(e):
	case e.Name == "log":
		log := newText(e.Detail, nil)
		t.Log = &log
	case !isFile:
	case len(t.Files) == maxFiles:
		t.MoreFiles++
	default:
		file := leftFile{Path: line(recorded.Path, 200), Text: newText(e.Detail, nil)}
		file.Text.Folded = false // each file is folded as a whole
		if recorded.Bytes != nil {
			file.Size = attr(float64(*recorded.Bytes)) + " bytes"
		}
		t.Files = append(t.Files, file)
	}
}

// others returns the events outside the conversation.
func (v view) others() []record.Event {
	if len(v.facts.Turns) == 0 {
		return v.trial.Events
	}
	return slices.DeleteFunc(slices.Clone(v.trial.Events), func(e record.Event) bool { return measure.IsConversation(e.Event) })
}

// callLinks links to the first and the last call of a range of indices.
func (v view) callLinks(from, to int) (links []reference) {
	to = min(to, len(v.trial.Calls))
	if from >= to {
		return nil
	}
	to1 := func(i int) reference {
		n := v.trial.Calls[i].N
		return reference{Link: link(callID(v.id, n)), Text: fmt.Sprintf("call %d", n)}
	}
	links = append(links, to1(from))
	if to-from > 1 {
		links = append(links, to1(to-1))
	}
	return links
}

// turnOf returns the turn of a call; 0 if unknown.
func (v view) turnOf(i int) int {
	made := 0
	for _, t := range v.facts.Turns {
		if made += t.Calls; i < made {
			return t.N
		}
	}
	return 0
}
