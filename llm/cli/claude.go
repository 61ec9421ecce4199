package cli

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// claudeEvent is one line of Claude Code's stream-json output: system, assistant,
// user (tool results), rate_limit_event, and a result at the end.
type claudeEvent struct {
	eventHead
	Session string          `json:"session_id"`
	Model   string          `json:"model"`   // system/init
	Message json.RawMessage `json:"message"` // assistant; of varying form elsewhere
	// ParentToolUseID is set in messages of sub-agents, which are not part of the answer.
	ParentToolUseID string `json:"parent_tool_use_id"`
	ErrorStatus     int    `json:"error_status"` // system/api_retry
	RateLimit       struct {
		Status   string `json:"status"`
		ResetsAt int64  `json:"resetsAt"`
	} `json:"rate_limit_info"`

	Result         string       `json:"result"`
	IsError        bool         `json:"is_error"`
	StopReason     string       `json:"stop_reason"`
	APIErrorStatus int          `json:"api_error_status"`
	TotalCostUSD   *float64     `json:"total_cost_usd"`
	Usage          *claudeUsage `json:"usage"`
	Errors         []string     `json:"errors"`
	// Error has the message of a failure in the result of qwen; a text in other events.
	Error   json.RawMessage `json:"error"`
	Denials []struct {
		Tool  string          `json:"tool_name"`
		ID    string          `json:"tool_use_id"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
}

type claudeMessage struct {
	Model   string `json:"model"`
	Content []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		ID    string          `json:"id"`    // tool_use
		Name  string          `json:"name"`  // tool_use
		Input json.RawMessage `json:"input"` // tool_use
	} `json:"content"`
}

// claudeResults has the tool results of a user message.
type claudeResults struct {
	Content []struct {
		Type    string          `json:"type"`
		ToolUse string          `json:"tool_use_id"`
		IsError bool            `json:"is_error"`
		Content json.RawMessage `json:"content"`
	} `json:"content"`
}

// claudeUsage counts input without cached input, as llm.Usage does.
type claudeUsage struct {
	Input      int `json:"input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	Output     int `json:"output_tokens"`
}

func claudeLine(a *answer, line []byte) {
	var e claudeEvent
	kind, ok := a.event(line, &e)
	if !ok {
		return
	}
	switch kind {
	case "system":
		switch e.Subtype {
		case "init":
			a.model = e.Model
			a.began(e.Session)
		case "api_retry":
			a.retried(kindOf("", e.ErrorStatus), e.ErrorStatus)
		}
	case "rate_limit_event":
		if e.RateLimit.Status == "rejected" {
			a.limited, a.limitEpoch = true, e.RateLimit.ResetsAt
		}
	case "assistant":
		claudeMessageOf(a, e.Message, e.ParentToolUseID != "")
	case "user":
		claudeRefusals(a, e.Message)
	case "result":
		claudeResult(a, e)
	case "stream_event", "control_response": // of no interest
	default:
		a.unknownEvent(kind)
	}
}

// synthetic is the model of messages by Claude Code itself, such as errors. The final event repeats
// their text.
const synthetic = "<synthetic>"

// claudeMessageOf processes an assistant message: its tool calls and, unless a sub-agent wrote it, its
// text.
func claudeMessageOf(a *answer, raw json.RawMessage, sub bool) {
	var m claudeMessage
	if !a.decode(raw, &m) || m.Model == synthetic {
		return
	}
	var b strings.Builder
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			b.WriteString(block.Text)
		case "tool_use", "server_tool_use":
			a.tool(block.ID, block.Name)
			a.about(block.ID, subject(block.Input))
		}
	}
	if sub {
		return
	}
	if m.Model != "" {
		a.model = m.Model
	}
	if b.Len() > 0 {
		a.text = b.String()
		a.sayWhole(a.text)
	}
}

// claudeDisabled is the result of a call of a tool that the permissions disable. The final event does
// not list it as a denial.
const claudeDisabled = "exists but is not enabled in this context"

// claudeDenied matches the result of a call that the permissions deny. The final event lists these calls,
// too, but an agent that is stopped emits none.
var claudeDenied = lazyregexp.New(`^(Claude requested permissions to |This command requires approval|` +
	`Permission to use \S+ .{0,300}has been denied)`)

// claudeRefusals processes results of tool calls: it counts failures, and records disabled tools and denied calls.
func claudeRefusals(a *answer, raw json.RawMessage) {
	var m claudeResults
	if json.Unmarshal(raw, &m) != nil { // a plain text, or a form that is of no interest
		return
	}
	for _, block := range m.Content {
		if block.Type == "tool_result" {
			a.result(!block.IsError)
		}
		var text string
		if !block.IsError || json.Unmarshal(block.Content, &text) != nil {
			continue
		}
		if claudeDenied().MatchString(text) {
			a.deny(block.ToolUse, "", cmp.Or(a.subjects[block.ToolUse], text))
		}
		if strings.HasPrefix(text, "<tool_use_error>") && strings.Contains(text, claudeDisabled) {
			a.deny(block.ToolUse, "", "the tool is switched off")
		}
	}
}

// claudeLimits are the subtypes of a final event after the program stopped at a limit. It
// is a failure unless the request has limits.
var claudeLimits = map[string]llm.FinishReason{
	"error_max_turns": llm.FinishTurns, "error_max_budget_usd": llm.FinishCost,
}

// claudeResult processes the final event. Its subtype may be "success" even if is_error is true, and its
// text may be empty even if there was an answer.
func claudeResult(a *answer, e claudeEvent) {
	a.ended = true
	a.usd = e.TotalCostUSD
	for _, d := range e.Denials {
		a.deny(d.ID, d.Tool, subject(d.Input))
	}
	if u := e.Usage; u != nil {
		a.usage = reported(llm.Usage{Input: u.Input, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
	}
	a.finish = map[string]llm.FinishReason{"max_tokens": llm.FinishLength, "refusal": llm.FinishContentFilter}[e.StopReason]
	if e.Result != "" {
		a.text = e.Result
	}
	if limit, ok := claudeLimits[e.Subtype]; ok && a.bounded {
		a.stop(limit)
		return
	}
	if e.IsError || strings.HasPrefix(e.Subtype, "error") {
		message := strings.Join(append(e.Errors, e.Result), "; ")
		if strings.HasPrefix(e.Subtype, "error") {
			message = e.Subtype + ": " + message
		}
		a.fail(strings.Trim(message, "; :"), e.APIErrorStatus)
	}
}

// reported marks counts as reported by the backend. It replaces negative counts by 0.
func reported(u llm.Usage) *llm.Usage {
	return &llm.Usage{
		Input: max(u.Input, 0), CachedInput: max(u.CachedInput, 0), CacheWrite: max(u.CacheWrite, 0),
		Output: max(u.Output, 0), Reasoning: max(u.Reasoning, 0), Source: llm.UsageReported,
	}
}
