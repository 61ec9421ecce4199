package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// payload is the union of what the hosts send. Fields that a host may send in a
// shape of its own are raw, as one of them must not break the others.
type payload struct {
	HookEventName text `json:"hook_event_name"`
	EventType     text `json:"event_type"` // OpenHands
	Event         text `json:"event"`      // Goose

	SessionID      text `json:"session_id"`
	SessionIDCamel text `json:"sessionId"`       // Copilot
	ConversationID text `json:"conversation_id"` // Cursor
	AgentID        text `json:"agent_id"`
	TurnID         text `json:"turn_id"` // Codex

	TranscriptPath      text `json:"transcript_path"`
	TranscriptPathCamel text `json:"transcriptPath"`
	AgentTranscriptPath text `json:"agent_transcript_path"`

	LastAssistantMessage text `json:"last_assistant_message"`
	PromptResponse       text `json:"prompt_response"` // Gemini
	Message              text `json:"message"`         // OpenHands
	Text                 text `json:"text"`            // Cursor, afterAgentResponse
	Prompt               text `json:"prompt"`          // Gemini

	StopHookActive json.RawMessage `json:"stop_hook_active"`
	LoopCount      json.RawMessage `json:"loop_count"`

	PermissionMode  text `json:"permission_mode"`
	Status          text `json:"status"` // Cursor
	StopReason      text `json:"stop_reason"`
	StopReasonCamel text `json:"stopReason"`

	BackgroundTasks json.RawMessage `json:"background_tasks"`
	SessionCrons    json.RawMessage `json:"session_crons"`
	Crons           json.RawMessage `json:"crons"` // Qwen

	Timestamp    json.RawMessage `json:"timestamp"`
	ContextUsage json.RawMessage `json:"context_usage"` // Qwen
	ContextLimit json.RawMessage `json:"context_limit"`
	InputTokens  json.RawMessage `json:"input_tokens"`
}

// text is a string; it is empty for null and for other types.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
	}
	*t = text(s)
	return nil
}

// input is a host's call in the form that all hosts share.
type input struct {
	host       Host
	session    string // with the agent's id for a subagent
	message    string // empty if it must be looked up
	request    string // of the user; empty if it must be looked up
	transcript string
	// active is true if the host reports that the agent continues because a hook, maybe
	// another one, refused a stop.
	active   bool
	subagent bool
	// observed is true for a message before its stop: Cursor sends the message with an
	// event of its own, before the stop.
	observed bool
	skip     string // why the stop is not judged; empty if it is
}

var (
	errNoSession = errors.New("the input names no session, so refusals could not be counted")
	errNoHost    = errors.New("the input is of no known host; name it with --host")
)

// parse reads a call, a JSON object. An unknown field is ignored and a missing one is empty. The
// host is told by shape if it is not given; it is set with an error, too.
func parse(data []byte, given Host) (input, error) {
	in := input{host: given}
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return in, fmt.Errorf("read the host's JSON: %w", err)
	}
	if given == Auto {
		in.host = p.host()
	}
	if in.host == Auto {
		return in, errNoHost
	}
	in.session = first(p.SessionID, p.SessionIDCamel, p.ConversationID, p.TranscriptPath, p.TranscriptPathCamel)
	if in.session == "" {
		return in, errNoSession
	}
	in.active = truth(p.StopHookActive) || positive(p.LoopCount)
	in.transcript = first(p.TranscriptPath, p.TranscriptPathCamel)
	in.message = p.message()
	in.request = typed(string(p.Prompt))
	if event := p.event(); strings.EqualFold(event, "SubagentStop") || p.AgentID != "" {
		in.subagent = true
		in.session += "\x00" + string(p.AgentID)
		in.transcript = string(p.AgentTranscriptPath)
	}
	in.observed = p.event() == "afterAgentResponse"
	in.skip = p.skip()
	return in, nil
}

func (p payload) event() string { return first(p.HookEventName, p.EventType, p.Event) }

// host recognises the host by fields that only it sends. What looks like Claude Code's Stop
// and has nothing of another host is answered as Claude Code's: several agents
// took over its contract.
func (p payload) host() Host {
	event := p.event()
	switch {
	case p.EventType != "":
		return OpenHands
	case p.ConversationID != "" && (event == "stop" || event == "afterAgentResponse"):
		return Cursor
	case event == "AfterAgent" || p.PromptResponse != "":
		return Gemini
	case p.SessionIDCamel != "" || p.TranscriptPathCamel != "" || p.StopReason != "" || event == "agentStop":
		return Copilot
	case event != "Stop" && event != "SubagentStop" && event != "StopFailure":
		return Auto
	case p.TurnID != "":
		return Codex
	case p.Crons != nil || p.ContextUsage != nil || p.ContextLimit != nil || p.InputTokens != nil || p.Timestamp != nil:
		return Qwen
	}
	return Claude
}

// noText is what Gemini CLI sends for a turn without text.
const noText = "[no response text]"

// message returns the last message, if the host sends it.
func (p payload) message() string {
	s := first(p.LastAssistantMessage, p.PromptResponse, p.Text, p.Message)
	if s == noText {
		return ""
	}
	return s
}

// skip returns why a stop cannot be refused; empty if it can.
func (p payload) skip() string {
	switch event := p.event(); event {
	case "", "Stop", "stop", "SubagentStop", "subagentStop", "AfterAgent", "agentStop", "afterAgentResponse":
	default:
		return "the event is not a stop"
	}
	switch {
	case p.Status != "" && p.Status != "completed":
		return "the turn was not completed"
	case !ended(p.StopReason) || !ended(p.StopReasonCamel):
		return "the turn was not ended by the agent"
	case p.PermissionMode == "plan":
		return "the agent may only plan"
	case filled(p.BackgroundTasks) || filled(p.SessionCrons) || filled(p.Crons):
		return "the agent waits for work in the background"
	}
	return ""
}

func ended(reason text) bool { return reason == "" || reason == "end_turn" }

func first(candidates ...text) string {
	for _, t := range candidates {
		if strings.TrimSpace(string(t)) != "" {
			return string(t)
		}
	}
	return ""
}

func truth(raw json.RawMessage) bool { return string(raw) == "true" }

func positive(raw json.RawMessage) bool {
	var n float64
	return json.Unmarshal(raw, &n) == nil && n > 0
}

// filled reports whether raw is a list or an object with something in it.
func filled(raw json.RawMessage) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return len(list) > 0
	}
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && len(object) > 0
}
