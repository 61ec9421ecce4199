package cli

import (
	"cmp"
	"encoding/json"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// geminiEvent is one line of Gemini CLI's stream-json output.
type geminiEvent struct {
	eventHead
	Model    string `json:"model"` // init
	Session  string `json:"session_id"`
	Role     string `json:"role"` // message
	Content  string `json:"content"`
	Delta    bool   `json:"delta"`
	Severity string `json:"severity"` // error
	Message  string `json:"message"`
	Status   string `json:"status"` // result
	Error    struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats *geminiStats `json:"stats"`
}

// geminiStats counts cached input within input. Only the total includes thoughts.
type geminiStats struct {
	Total  int `json:"total_tokens"`
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached"`
}

func geminiLine(a *answer, line []byte) {
	var head eventHead
	kind, ok := a.event(line, &head)
	if !ok {
		return
	}
	if kind == "tool_use" || kind == "tool_result" {
		a.fresh = true
		geminiTool(a, line)
		return
	}
	var e geminiEvent
	if !a.decode(line, &e) {
		return
	}
	switch e.Type {
	case "init":
		a.model = e.Model
		a.began(e.Session)
	case "message":
		if e.Role == "assistant" && e.Content != "" {
			// The final answer is the text after the last tool call.
			if a.fresh || !e.Delta {
				a.text = ""
				a.fresh = true
			}
			a.text += e.Content
			a.addText(e.Content)
			a.fresh = !e.Delta
		}
	case "error":
		if e.Severity != "warning" {
			a.lastError = e.Message
		}
	case "result":
		geminiResult(a, e)
	default:
		a.unknownEvent(kind)
	}
}

func geminiResult(a *answer, e geminiEvent) {
	a.ended = true
	if s := e.Stats; s != nil {
		thoughts := max(0, s.Total-s.Input-s.Output)
		a.usage = reported(llm.Usage{
			Input: s.Input - s.Cached, CachedInput: s.Cached, Output: s.Output + thoughts, Reasoning: thoughts,
		})
	}
	if e.Status != "success" {
		a.fail(e.Error.Message, 0)
	}
}

// geminiCall is an event of a tool call.
type geminiCall struct {
	eventHead
	ID     string `json:"tool_id"`
	Name   string `json:"tool_name"` // tool_use
	Status string `json:"status"`    // tool_result
	Output string `json:"output"`
	// Error is an object with type and message, or a string.
	Error json.RawMessage `json:"error"`
}

// geminiDenied matches the message about a tool call that is forbidden or would need an approval. Gemini CLI 0.61.0
// removes the tools that it would have to ask about.
var geminiDenied = lazyregexp.New(`(?i)denied by policy|policy_violation|requires user confirmation, which is not supported|` +
	`tool \\?"(write_file|replace|run_shell_command)\\?" not found`)

func geminiTool(a *answer, line []byte) {
	var e geminiCall
	if !a.decode(line, &e) {
		return
	}
	if e.Type == "tool_result" {
		a.result(e.Status != "error")
	}
	switch {
	case e.Type == "tool_use":
		a.tool(e.ID, e.Name)
	case e.Status == "error" && geminiDenied().Match(e.Error),
		e.Status == "error" && len(e.Error) == 0 && geminiDenied().MatchString(e.Output):
		a.deny(e.ID, "", geminiWhy(e))
	}
}

// geminiWhy returns the program's reason for a denial.
func geminiWhy(e geminiCall) string {
	var why struct {
		Message string `json:"message"`
	}
	var text string
	if json.Unmarshal(e.Error, &why) == nil {
		return why.Message
	}
	_ = json.Unmarshal(e.Error, &text)
	return cmp.Or(text, e.Output)
}
