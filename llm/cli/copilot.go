package cli

import (
	"encoding/json"
	"slices"
	"strings"
)

// copilotEvent is one line of Copilot CLI's JSON output. It reports no token
// counts.
type copilotEvent struct {
	eventHead
	Data     json.RawMessage `json:"data"`
	ExitCode *int            `json:"exitCode"`  // result
	Session  string          `json:"sessionId"` // result
}

type copilotData struct {
	MessageID    string `json:"messageId"`
	Content      string `json:"content"`
	DeltaContent string `json:"deltaContent"`
	Model        string `json:"model"`
	Message      string `json:"message"`
	Summary      string `json:"summary"`
	ToolRequests []struct {
		ID        string          `json:"toolCallId"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"toolRequests"`
}

// copilotFailure is the data of an event about a failed call to the model, which is repeated or followed by a
// session.error.
type copilotFailure struct {
	Message string `json:"errorMessage"`
	Status  int    `json:"statusCode"`
}

// copilotCall is the data of an event of a tool call.
type copilotCall struct {
	ID      string `json:"toolCallId"`
	Name    string `json:"toolName"`
	Success *bool  `json:"success"` // tool.execution_complete
	Error   struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	// Of permission.completed.
	Result struct {
		Kind string `json:"kind"`
	} `json:"result"`
}

func copilotLine(a *answer, line []byte) {
	var e copilotEvent
	kind, ok := a.event(line, &e)
	if !ok {
		return
	}
	switch kind {
	case "session.tools_updated", "assistant.message_delta", "assistant.message", "session.task_complete", "session.error":
		var d copilotData
		if a.decode(e.Data, &d) {
			copilotTake(a, kind, d)
		}
	case "tool.execution_start", "tool.execution_complete", "permission.completed":
		var c copilotCall
		if a.decode(e.Data, &c) {
			copilotTool(a, kind, c)
		}
	case "model.call_failure":
		var f copilotFailure
		if a.decode(e.Data, &f) {
			a.lastError, a.lastStatus = f.Message, f.Status
		}
	case "assistant.turn_retry":
		a.retried(kindOf(a.lastError, a.lastStatus), a.lastStatus)
	case "result":
		a.began(e.Session)
		a.ended = true
		if e.ExitCode != nil && *e.ExitCode != 0 {
			a.fail(a.lastError, 0)
		}
	default:
		if family, _, _ := strings.Cut(kind, "."); !slices.Contains(copilotFamilies, family) {
			a.unknownEvent(kind)
		}
	}
}

// copilotFamilies are the first parts of the types of its events. Most events are ignored.
var copilotFamilies = []string{
	"abort", "assistant", "hook", "mcp", "model", "permission", "session", "skill", "subagent", "system", "tool", "user",
}

func copilotTake(a *answer, kind string, d copilotData) {
	switch kind {
	case "session.tools_updated":
		a.model = d.Model
	case "session.error":
		a.lastError = d.Message
	case "session.task_complete":
		// The argument of the tool call usually has the same summary.
		if d.Summary != "" && a.text == "" {
			a.text = d.Summary
			a.sayWhole(d.Summary)
		}
	case "assistant.message_delta":
		if a.streamed == nil {
			a.streamed = map[string]bool{}
		}
		if !a.streamed[d.MessageID] {
			a.fresh = true
		}
		a.streamed[d.MessageID] = true
		a.addText(d.DeltaContent)
	case "assistant.message":
		copilotMessage(a, d)
	}
}

// copilotMessage processes a whole message. An agent may return its final text as an argument of the
// tool task_complete, with or without other text.
func copilotMessage(a *answer, d copilotData) {
	text := d.Content
	if d.Content != "" && !a.streamed[d.MessageID] {
		a.sayWhole(d.Content)
	}
	a.fresh = true
	for _, call := range d.ToolRequests {
		if call.Name != copilotComplete {
			a.tool(call.ID, call.Name)
			continue
		}
		var args struct {
			Summary string `json:"summary"`
		}
		if a.decode(call.Arguments, &args) && args.Summary != "" && args.Summary != text {
			if text != "" {
				text += "\n\n"
			}
			text += args.Summary
			a.sayWhole(args.Summary)
		}
	}
	if text != "" {
		a.text = text
	}
}

// copilotComplete is the tool that returns the final text.
const copilotComplete = "task_complete"

// copilotTool processes the result of a tool call. A denied permission has a separate event, and the
// call fails with the same id.
func copilotTool(a *answer, kind string, c copilotCall) {
	if kind == "tool.execution_complete" && c.Success != nil {
		a.result(*c.Success)
	}
	switch {
	case kind == "tool.execution_start" && c.Name != copilotComplete:
		a.tool(c.ID, c.Name)
	case kind == "permission.completed" && strings.HasPrefix(c.Result.Kind, "denied"):
		a.deny(c.ID, c.Name, c.Result.Kind)
	case kind == "tool.execution_complete" && c.Success != nil && !*c.Success &&
		(c.Error.Code == "denied" || strings.HasPrefix(c.Error.Message, "Permission denied and could not request permission")):
		a.deny(c.ID, c.Name, c.Error.Message)
	}
}
