package measure

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// TurnFacts are one turn of a conversation with somebody else's agent.
type TurnFacts struct {
	// N is the turn's number, from 1.
	N int `cel:"n" json:"n"`
	// User is what the user said, Text what the agent answered; Error says why it did not,
	// and is empty if it did.
	User  string `cel:"user" json:"user"`
	Text  string `cel:"text" json:"text"`
	Error string `cel:"error" json:"error,omitempty"`
	// Calls is how many calls to the model the agent made before it answered.
	Calls int `cel:"calls" json:"calls"`
	// Attrs are what the driver saw beside the answer, such as an HTTP status.
	Attrs map[string]any `cel:"attrs" json:"attrs,omitempty"`
}

// The names of events that drivers tell: of a turn, of a file that an agent left, and of
// what it wrote beside its answers.
const (
	turnName = "turn"
	fileName = "file"
	logName  = "log"
)

// OfTalk reports whether an event tells what was said in a conversation with somebody
// else's agent, or what that wrote: a turn, a file, its log.
func OfTalk(e event.Event) bool {
	return e.Kind == event.State && (e.Name == turnName || e.Name == fileName || e.Name == logName)
}

// turnFacts reads the turns from what the driver of somebody else's agent told.
func turnFacts(tr *record.Trial) []TurnFacts {
	var turns []TurnFacts
	before := 0
	for i := range tr.Events {
		e := &tr.Events[i].Event
		user, ok := e.Attrs["user"].(string)
		if e.Kind != event.State || e.Name != turnName || !ok {
			continue
		}
		t := TurnFacts{N: e.N, User: user, Text: e.Detail, Attrs: beside(e.Attrs)}
		t.Error, _ = e.Attrs["error"].(string)
		// A number of calls that is told counts from the conversation's beginning.
		if calls := Int(e.Attrs["calls"]); calls > before {
			t.Calls, before = calls-before, calls
		}
		turns = append(turns, t)
	}
	return turns
}

// beside are the attributes of a turn that are no facts of their own.
func beside(attrs map[string]any) (rest map[string]any) {
	for name, value := range attrs {
		if name == "user" || name == "calls" || name == "error" {
			continue
		}
		if rest == nil {
			rest = map[string]any{}
		}
		rest[name] = value
	}
	return rest
}

// fileFacts are the beginnings of the files that the agent left, by path.
func fileFacts(tr *record.Trial) map[string]string {
	var files map[string]string
	for i := range tr.Events {
		e := &tr.Events[i].Event
		path, ok := e.Attrs["path"].(string)
		if e.Kind != event.State || e.Name != fileName || !ok {
			continue
		}
		if files == nil {
			files = map[string]string{}
		}
		files[path] = e.Detail
	}
	return files
}
