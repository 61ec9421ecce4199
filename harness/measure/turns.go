package measure

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// TurnFacts are one turn of a conversation with somebody else's agent.
type TurnFacts struct {
	// N is the turn's number, from 1.
	N int `cel:"n" json:"n"`
	// User is the user's message, Text the agent's answer; Error is the reason why there is
	// no answer.
	User  string `cel:"user" json:"user"`
	Text  string `cel:"text" json:"text"`
	Error string `cel:"error" json:"error,omitempty"`
	// Calls is how many calls to the model the agent made before it answered.
	Calls int `cel:"calls" json:"calls"`
	// Attrs are observations of the driver beside the answer, such as an HTTP status.
	Attrs map[string]any `cel:"attrs" json:"attrs,omitempty"`
}

// The names of events that drivers emit: a turn, a file that an agent left, and output of
// the agent beside its answers.
const (
	turnName = "turn"
	fileName = "file"
	logName  = "log"
)

// IsConversation reports whether an event holds a part of a conversation with somebody
// else's agent, or of its output: a turn, a file, its log.
func IsConversation(e event.Event) bool {
	return e.Kind == event.State && (e.Name == turnName || e.Name == fileName || e.Name == logName)
}

// turnFacts reads the turns from the events of the driver of somebody else's agent.
func turnFacts(tr *record.Trial) []TurnFacts {
	var turns []TurnFacts
	before := 0
	for i := range tr.Events {
		e := &tr.Events[i].Event
		user, ok := e.Attrs["user"].(string)
		if e.Kind != event.State || e.Name != turnName || !ok {
			continue
		}
		t := TurnFacts{N: e.N, User: user, Text: e.Detail, Attrs: otherAttrs(e.Attrs)}
		t.Error, _ = e.Attrs["error"].(string)
		// The number of calls is counted from the beginning of the conversation.
		if calls := Int(e.Attrs["calls"]); calls > before {
			t.Calls, before = calls-before, calls
		}
		turns = append(turns, t)
	}
	return turns
}

// otherAttrs returns the attributes of a turn that are not facts of their own.
func otherAttrs(attrs map[string]any) (rest map[string]any) {
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

// fileFacts returns the beginnings of the files that the agent left, by path.
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
