package cli

import "github.com/rehearse-dev/rehearse/llm"

// geminiEvent is one line of Gemini CLI's stream-json output.
type geminiEvent struct {
	eventHead
	Model    string `json:"model"` // init
	Role     string `json:"role"`  // message
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

// geminiStats counts cached input within input. The total also holds thoughts,
// which output leaves out.
type geminiStats struct {
	Total  int `json:"total_tokens"`
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cached"`
}

func geminiLine(a *answer, line []byte) {
	// The error of a tool result may be a text, and its events are of no interest.
	var head eventHead
	if kind, ok := a.event(line, &head); !ok || kind == "tool_use" || kind == "tool_result" {
		a.fresh = a.fresh || ok
		return
	}
	var e geminiEvent
	if !a.decode(line, &e) {
		return
	}
	switch e.Type {
	case "init":
		a.model = e.Model
	case "message":
		if e.Role == "assistant" && e.Content != "" {
			// The final answer is what was said after the last tool call.
			if a.fresh || !e.Delta {
				a.text = ""
				a.fresh = true
			}
			a.text += e.Content
			a.say(e.Content)
			a.fresh = !e.Delta
		}
	case "error":
		if e.Severity != "warning" {
			a.lastError = e.Message
		}
	case "result":
		geminiResult(a, e)
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
