package measure

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// TurnFacts describe one turn of a conversation with an external agent.
type TurnFacts struct {
	// N is the turn's number, from 1.
	N int `cel:"n" json:"n"`
	// User is the user's message, Text the agent's answer; Error is the reason why there is
	// no answer.
	User  string `cel:"user" json:"user"`
	Text  string `cel:"text" json:"text"`
	Error string `cel:"error" json:"error,omitempty"`
	// Calls counts the agent's calls to the model before it answered.
	Calls int `cel:"calls" json:"calls"`
	// Attrs are observations of the driver beside the answer, such as an HTTP status.
	Attrs map[string]any `cel:"attrs" json:"attrs,omitempty"`
}

// IsConversation reports whether an event is a part of a conversation with an external
// agent: a turn, a file that it left, its log.
func IsConversation(e event.Event) bool {
	return is[record.Turn](&e) || is[record.File](&e) || is[record.Log](&e)
}

// is reports whether an event has the kind and the name of a payload.
func is[T event.Payload](e *event.Event) bool {
	var payload T
	kind, name := payload.Event()
	return e.Kind == kind && e.Name == name
}

// turnFacts reads the turns of a conversation with an external agent.
func turnFacts(tr *record.Trial) []TurnFacts {
	var turns []TurnFacts
	before := 0
	for i := range tr.Events {
		e := &tr.Events[i].Event
		recorded, ok := event.Read[record.Turn](e)
		if !ok || e.N == 0 { // another event of the same name
			continue
		}
		t := TurnFacts{N: e.N, User: recorded.User, Text: e.Detail, Error: recorded.Error, Attrs: recorded.Extra(e)}
		// The number of calls is counted from the beginning of the conversation.
		if recorded.Calls > before {
			t.Calls, before = recorded.Calls-before, recorded.Calls
		}
		turns = append(turns, t)
	}
	return turns
}

// inARow returns the largest number of exchanges in a row with the same fault that others followed, if it is at least 2.
func inARow(all []record.Exchange) (most int) {
	n, fault := 0, ""
	for i := range all {
		if n > 1 {
			most = max(most, n)
		}
		x := &all[i]
		if !x.Fired || x.Fault != fault {
			n = 0
		}
		if x.Fired {
			n, fault = n+1, x.Fault
		}
	}
	return most
}

// fileFacts returns the beginnings of the files that the agent left, by path.
func fileFacts(tr *record.Trial) map[string]string {
	var files map[string]string
	for i := range tr.Events {
		e := &tr.Events[i].Event
		file, ok := event.Read[record.File](e)
		if !ok || file.Path == "" {
			continue
		}
		if files == nil {
			files = map[string]string{}
		}
		files[file.Path] = e.Detail
	}
	return files
}
