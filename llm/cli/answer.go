package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// answer collects the output of an agent. The parsers fill it line by line; judge reads it at the end.
type answer struct {
	activity
	session
	onText, onMessage func(string)

	all   strings.Builder // every piece of text, in order of arrival
	fresh bool            // the next piece begins a new message

	text    string // the final text as far as known
	events  int    // lines that were events
	ended   bool   // the final event was seen, good or bad
	failure *failure
	gaveUp  bool       // the agent must be stopped, because it would never end
	noise   child.Tail // lines that were no events: warnings, stack traces

	model   string
	finish  llm.FinishReason
	usage   *llm.Usage
	usd     *float64
	retries []llm.Retry

	// State of individual parsers.
	unknown    []string        // some types of events that the parser does not know
	lastError  string          // an error event that may be transient
	lastStatus int             // HTTP status of that error, if reported
	limited    bool            // the agent reported a rejected rate limit
	limitEpoch int64           // the end of that limit, in seconds of Unix time; 0 if unknown
	streamed   map[string]bool // messages whose text came in pieces
	offline    int             // events in a row about a missing network
}

// failure is an error in the output of an agent.
type failure struct {
	message string
	status  int // HTTP status of the agent's provider, if reported
}

// addText adds a piece of text to the current message.
func (a *answer) addText(delta string) {
	if delta == "" {
		return
	}
	if a.fresh && a.all.Len() > 0 {
		delta = "\n\n" + delta
	}
	a.fresh = false
	a.all.WriteString(delta)
	if a.onText != nil {
		a.onText(delta)
	}
}

// partial returns the text before a failure, at most 1 MiB of it, because it goes into recordings.
func (a *answer) partial() string {
	const most = 1 << 20
	text := a.all.String()
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// sayWhole reports a whole message.
func (a *answer) sayWhole(text string) {
	if a.onMessage != nil {
		a.onMessage(text)
	}
	a.fresh = true
	a.addText(text)
	a.fresh = true
}

// decode reads an event into v. An invalid line is added to the noise, because a newer version of an
// agent must not break a run.
func (a *answer) decode(line []byte, v any) bool {
	if err := json.Unmarshal(line, v); err != nil {
		a.addNoise(line)
		return false
	}
	return true
}

// addNoise adds a line that is not an event.
func (a *answer) addNoise(line []byte) {
	_, _ = a.noise.Write(line)
	_, _ = a.noise.Write([]byte("\n"))
}

// event reads the type of an event.
func (a *answer) event(line []byte, v interface{ kind() string }) (kind string, ok bool) {
	if len(line) == 0 {
		return "", false
	}
	if !a.decode(line, v) {
		return "", false
	}
	if v.kind() == "" {
		a.addNoise(line)
		return "", false
	}
	a.events++
	return v.kind(), true
}

// eventHead is embedded in every event.
type eventHead struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
}

func (h eventHead) kind() string { return h.Type }

// fail records a failure that the agent reports.
func (a *answer) fail(message string, status int) {
	a.ended = true
	if message == "" {
		message = a.lastError
	}
	if message == "" {
		message = "the agent reports a failure without saying why"
	}
	a.failure = &failure{message: message, status: status}
}

// giveUp records a failure after which the agent must be stopped.
func (a *answer) giveUp(message string) {
	a.fail(message, 0)
	a.gaveUp = true
}

// unknownEvent records the type of an event that the parser does not know.
func (a *answer) unknownEvent(kind string) {
	const most = 3
	kind = sanitize.Line(kind, 40)
	if len(a.unknown) < most && !slices.Contains(a.unknown, kind) {
		a.unknown = append(a.unknown, kind)
	}
}

// retried records an attempt that the agent repeats.
func (a *answer) retried(kind llm.ErrorKind, status int) {
	const most = 100 // no run has more; a hostile stream might
	if len(a.retries) < most {
		a.retries = append(a.retries, llm.Retry{Kind: kind, Status: status})
	}
}
