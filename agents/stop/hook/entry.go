package hook

import (
	"bytes"
	"encoding/json"
	"strings"
)

// kind is the role of a transcript's line in the search for the last message.
type kind int

const (
	aside  kind = iota // irrelevant: settings, usage, thoughts, another agent's work
	spoken             // a message of the agent
	asked              // a message of the user, or one that looks like it: see typed
	other              // a tool call, its result or a notice: a message before it is not the last
)

type entry struct {
	kind kind
	text string
	id   string // of the message, where one may be on several lines
}

// record is the union of a transcript's lines.
//
//   - Claude Code: {"type":"assistant","message":{"id","content":[{"type":"text","text"}]}}
//   - Qwen Code: {"type":"assistant","message":{"role":"model","parts":[{"text"}]}}
//   - Cursor: {"role":"assistant","message":{"content":[{"type":"text","text"}]}}
//   - Codex: {"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text"}]}}
//     and {"type":"event_msg","payload":{"type":"agent_message","message"}}
//   - Copilot CLI: {"type":"assistant.message","data":{"content","toolRequests":[…]}}
//   - Gemini CLI: {"type":"gemini","content":"…" or [{"text"}],"toolCalls":[…]},
//     {"$set":{"messages":[…]}}, or one document {"messages":[…]}
//
// These formats are not stable interfaces of the hosts, so everything else is an aside.
type record struct {
	Type        string          `json:"type"`
	Role        string          `json:"role"`
	IsSidechain bool            `json:"isSidechain"`
	IsAPIError  bool            `json:"isApiErrorMessage"`
	IsMeta      bool            `json:"isMeta"`
	IsSummary   bool            `json:"isCompactSummary"`
	AgentID     text            `json:"agentId"` // of a subagent
	Message     json.RawMessage `json:"message"`
	Payload     json.RawMessage `json:"payload"`
	Data        json.RawMessage `json:"data"`
	Content     json.RawMessage `json:"content"`
	ToolCalls   json.RawMessage `json:"toolCalls"`
	Messages    json.RawMessage `json:"messages"`
	Set         *struct {
		Messages json.RawMessage `json:"messages"`
	} `json:"$set"`
}

// said is the part of a record with the text.
type said struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Role         string          `json:"role"`
	Content      json.RawMessage `json:"content"`
	Parts        json.RawMessage `json:"parts"`
	Message      json.RawMessage `json:"message"`            // Codex, agent_message
	LastMessage  string          `json:"last_agent_message"` // Codex, task_complete
	ToolRequests []toolRequest   `json:"toolRequests"`       // Copilot CLI
	Source       text            `json:"source"`             // Copilot CLI
	Autopilot    bool            `json:"isAutopilotContinuation"`
}

type toolRequest struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// readRecords returns the record of a line, or the records of the messages in it: a line
// may set all messages, and a transcript may be one document.
func readRecords(line []byte) []record {
	var r record
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || !decode(line, &r) {
		return nil
	}
	messages := r.Messages
	if r.Set != nil {
		messages = r.Set.Messages
	}
	var all []record
	if decode(messages, &all) {
		return all
	}
	if r.Set != nil {
		return nil
	}
	return []record{r}
}

// isDocument reports whether data is one JSON object with messages.
func isDocument(data []byte) bool {
	var d struct {
		Messages json.RawMessage `json:"messages"`
	}
	return decode(data, &d) && len(d.Messages) > 0
}

// entry returns the entry of a record; subagent is true in the transcript of a subagent.
func (r record) entry(subagent bool) entry {
	switch {
	case r.IsSidechain && !subagent:
		return entry{}
	case r.IsAPIError:
		return entry{kind: other} // the host's words, not the agent's
	}
	switch r.Type {
	case "response_item", "event_msg":
		return codexEntry(r.Payload)
	case "assistant.message":
		return copilotEntry(r.Data)
	case "user.message":
		return copilotRequest(r, subagent)
	case "gemini":
		return spokenEntry("", textOf(r.Content), filled(r.ToolCalls))
	case "user":
		return r.request()
	case "tool_result":
		return entry{kind: other}
	}
	if r.Type != "assistant" && r.Role != "assistant" {
		if r.Role == "user" {
			return r.request()
		}
		return entry{}
	}
	id, words := r.body()
	return spokenEntry(id, words, false)
}

// body returns the content of a message, and the id of the message where it has one.
func (r record) body() (id string, w words) {
	var m said
	if !decode(r.Message, &m) {
		return "", textOf(r.Content)
	}
	w = textOf(m.Content)
	w.add(textOf(m.Parts))
	return m.ID, w
}

// request returns a message in the role of the user.
func (r record) request() entry {
	if r.IsMeta || r.IsSummary {
		return entry{kind: other}
	}
	_, w := r.body()
	return entry{kind: asked, text: w.text}
}

// spokenEntry returns a message with text, unless a tool call follows. Without
// either it is an aside: a thought.
func spokenEntry(id string, w words, calls bool) entry {
	switch {
	case calls || w.calls:
		return entry{kind: other}
	case w.text == "":
		return entry{}
	}
	return entry{kind: spoken, text: w.text, id: id}
}

func codexEntry(payload json.RawMessage) entry {
	var p said
	if !decode(payload, &p) {
		return entry{}
	}
	switch p.Type {
	case "message":
		if p.Role == "user" {
			return entry{kind: asked, text: textOf(p.Content).text}
		}
		if p.Role != "assistant" {
			return entry{kind: other}
		}
		return spokenEntry("", textOf(p.Content), false)
	case "agent_message":
		return spokenEntry("", textOf(p.Message), false)
	case "task_complete":
		return spokenEntry("", words{text: p.LastMessage}, false)
	case "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call", "web_search_call":
		return entry{kind: other}
	case "user_message":
		return entry{kind: asked, text: textOf(p.Message).text}
	}
	return entry{}
}

// copilotRequest returns a message of Copilot CLI's user. Messages of skills, agents and
// the autopilot have a source of their own.
func copilotRequest(r record, subagent bool) entry {
	var d said
	if !decode(r.Data, &d) || d.Autopilot || d.Source != "" && d.Source != "user" || r.AgentID != "" && !subagent {
		return entry{kind: other}
	}
	return entry{kind: asked, text: textOf(d.Content).text}
}

// finishing is the tool with which Copilot CLI's agent ends its work; the
// last message may be in its arguments.
const finishing = "task_complete"

func copilotEntry(data json.RawMessage) entry {
	var d said
	if !decode(data, &d) {
		return entry{}
	}
	w := textOf(d.Content)
	for _, call := range d.ToolRequests {
		if call.Name != finishing {
			return entry{kind: other}
		}
		var arguments struct {
			Summary string `json:"summary"`
		}
		var quoted string // arguments may come as a string of JSON
		if decode(call.Arguments, &quoted) {
			call.Arguments = json.RawMessage(quoted)
		}
		if decode(call.Arguments, &arguments) {
			w.add(words{text: arguments.Summary})
		}
	}
	return spokenEntry("", w, false)
}

// words are the text of a content.
type words struct {
	text  string
	calls bool // it has a tool call
}

func (w *words) add(more words) {
	w.calls = w.calls || more.calls
	switch {
	case more.text == "":
	case w.text == "":
		w.text = more.text
	default:
		w.text += "\n\n" + more.text
	}
}

// textOf reads a content: a string or a list of blocks. Thoughts are left out.
func textOf(content json.RawMessage) words {
	var s string
	if decode(content, &s) {
		return words{text: strings.TrimSpace(s)}
	}
	var blocks []struct {
		Type         string          `json:"type"`
		Text         string          `json:"text"`
		Thought      json.RawMessage `json:"thought"`
		FunctionCall json.RawMessage `json:"functionCall"`
		Response     json.RawMessage `json:"functionResponse"`
	}
	var w words
	if !decode(content, &blocks) {
		return w
	}
	for _, b := range blocks {
		switch {
		case b.Type == "tool_use" || len(b.FunctionCall) > 0 || len(b.Response) > 0:
			w.calls = true
		case b.Type != "" && b.Type != "text" && b.Type != "output_text" && b.Type != "input_text", truth(b.Thought):
		default:
			w.add(words{text: strings.TrimSpace(b.Text)})
		}
	}
	return w
}

// decode reads JSON that must fit; it reports whether there was any and it did.
func decode(data []byte, into any) bool {
	if len(data) == 0 || string(data) == "null" {
		return false
	}
	return json.Unmarshal(data, into) == nil
}
