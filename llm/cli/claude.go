package cli

import (
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/llm"
)

// claudeEvent is one line of Claude Code's stream-json output: system, assistant,
// user (tool results), rate_limit_event, and a result at the end.
type claudeEvent struct {
	eventHead
	Session string          `json:"session_id"`
	Model   string          `json:"model"`   // system/init
	Message json.RawMessage `json:"message"` // assistant; of varying form elsewhere
	// ParentToolUseID is set on the messages of a sub-agent, which are not the
	// answer.
	ParentToolUseID string `json:"parent_tool_use_id"`
	ErrorStatus     int    `json:"error_status"` // system/api_retry
	RateLimit       struct {
		Status string `json:"status"`
	} `json:"rate_limit_info"`

	Result         string       `json:"result"`
	IsError        bool         `json:"is_error"`
	StopReason     string       `json:"stop_reason"`
	APIErrorStatus int          `json:"api_error_status"`
	TotalCostUSD   *float64     `json:"total_cost_usd"`
	Usage          *claudeUsage `json:"usage"`
	Errors         []string     `json:"errors"`
}

type claudeMessage struct {
	Model   string `json:"model"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// claudeUsage counts cached input apart from input, as llm.Usage does.
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
			a.session(e.Session)
		case "api_retry":
			a.retried(kindOf("", e.ErrorStatus), e.ErrorStatus)
		}
	case "rate_limit_event":
		a.limited = a.limited || e.RateLimit.Status == "rejected"
	case "assistant":
		if e.ParentToolUseID == "" {
			claudeText(a, e.Message)
		}
	case "result":
		claudeResult(a, e)
	}
}

// synthetic is the model of messages that Claude Code wrote itself, such as errors; the
// final event has their text, too.
const synthetic = "<synthetic>"

// claudeText takes the text of an assistant message.
func claudeText(a *answer, raw json.RawMessage) {
	var m claudeMessage
	if !a.decode(raw, &m) {
		return
	}
	if m.Model == synthetic {
		return
	}
	if m.Model != "" {
		a.model = m.Model
	}
	var b strings.Builder
	for _, block := range m.Content {
		if block.Type == "text" {
			b.WriteString(block.Text)
		}
	}
	if b.Len() > 0 {
		a.text = b.String()
		a.sayWhole(a.text)
	}
}

// claudeResult takes the final event. Its subtype may say "success" while
// is_error is true, and its text may be empty although the assistant spoke.
func claudeResult(a *answer, e claudeEvent) {
	a.ended = true
	a.usd = e.TotalCostUSD
	if u := e.Usage; u != nil {
		a.usage = reported(llm.Usage{Input: u.Input, CachedInput: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
	}
	a.finish = map[string]llm.FinishReason{"max_tokens": llm.FinishLength, "refusal": llm.FinishContentFilter}[e.StopReason]
	if e.Result != "" {
		a.text = e.Result
	}
	if e.IsError || strings.HasPrefix(e.Subtype, "error") {
		message := strings.Join(append(e.Errors, e.Result), "; ")
		if strings.HasPrefix(e.Subtype, "error") {
			message = e.Subtype + ": " + message
		}
		a.fail(strings.Trim(message, "; :"), e.APIErrorStatus)
	}
}

// reported marks counts as the backend's own. Negative ones are nonsense and
// count as 0.
func reported(u llm.Usage) *llm.Usage {
	return &llm.Usage{
		Input: max(u.Input, 0), CachedInput: max(u.CachedInput, 0), CacheWrite: max(u.CacheWrite, 0),
		Output: max(u.Output, 0), Reasoning: max(u.Reasoning, 0), Source: llm.UsageReported,
	}
}
