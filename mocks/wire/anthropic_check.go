package wire

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// Limits of Anthropic's API.
const (
	maxAnthropicToolName = 128
	minThinkingBudget    = 1024
)

// The block types and betas that the checks depend on.
const (
	blockToolUse    = "tool_use"
	blockToolResult = "tool_result"
	betaSystem      = "mid-conversation-system"
	betaInterleaved = "interleaved-thinking" // the thinking budget is for a whole turn
)

// refused returns Anthropic's error for an invalid request; its message begins with the field.
func refused(param, format string, args ...any) *APIError {
	message := fmt.Sprintf(format, args...)
	if param != "" {
		message = param + ": " + message
	}
	return &APIError{Status: http.StatusBadRequest, Type: invalidRequest, Param: param, Message: message}
}

func unknownTag(param, tag, expected string) *APIError {
	return refused(param, "Input tag '%.64s' found using 'type' does not match any of the expected tags: %s", tag, expected)
}

// anthropicDecodeError reports the field with a wrong type, or that the body is not JSON.
func anthropicDecodeError(err error) *APIError {
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok || e.JSONPointer == "" {
		return refused("", "The request body is not valid JSON: %.200s", err)
	}
	param := strings.Join(slices.Collect(e.JSONPointer.Tokens()), ".")
	return refused(fmt.Sprintf("%.200s", param), "Input should be %s, not %s", goTypeName(e.GoType), kindName(e.JSONKind))
}

// check validates a request as the provider does, cheapest rules first. The limits do not apply
// to a request that only counts tokens.
func (r *messagesRequest) check(beta string, answer bool) *APIError {
	if r.Model == "" {
		return refused("model", "Field required")
	}
	if answer {
		if err := r.checkLimits(); err != nil {
			return err
		}
	}
	return firstError(func() *APIError { return r.checkThinking(beta) }, r.checkTools,
		func() *APIError { return r.checkMessages(beta) }, r.checkPairs)
}

func (r *messagesRequest) checkLimits() *APIError {
	if r.MaxTokens == nil {
		return refused("max_tokens", "Field required")
	}
	// 0 is valid: it fills the cache without an answer.
	if *r.MaxTokens < 0 {
		return refused("max_tokens", "Input should be greater than or equal to 0")
	}
	for _, p := range []struct {
		name  string
		value *float64
	}{{"temperature", r.Temperature}, {"top_p", r.TopP}} {
		if p.value != nil && (*p.value < 0 || *p.value > 1) {
			return refused(p.name, "range: 0..1")
		}
	}
	if r.TopK != nil && *r.TopK < 0 {
		return refused("top_k", "Input should be greater than or equal to 0")
	}
	for i, s := range r.StopSequences {
		if strings.TrimSpace(s) == "" {
			return refused(fmt.Sprintf("stop_sequences.%d", i), "each stop sequence must contain non-whitespace")
		}
	}
	return nil
}

func (r *messagesRequest) checkThinking(beta string) *APIError {
	t := r.Thinking
	if t == nil {
		return nil
	}
	switch t.Type {
	case "disabled", "adaptive":
		return nil
	case "enabled":
	case "":
		return refused("thinking.type", "Field required")
	default:
		return unknownTag("thinking", t.Type, "'adaptive', 'disabled', 'enabled'")
	}
	switch {
	case t.BudgetTokens == nil:
		return refused("thinking.enabled.budget_tokens", "Field required")
	case *t.BudgetTokens < minThinkingBudget:
		return refused("thinking.enabled.budget_tokens", "Input should be greater than or equal to %d", minThinkingBudget)
	case r.MaxTokens != nil && *t.BudgetTokens >= *r.MaxTokens && !strings.Contains(beta, betaInterleaved):
		return refused("", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	case r.Temperature != nil && *r.Temperature != 1:
		return refused("", "`temperature` may only be set to 1 when thinking is enabled.")
	}
	return nil
}

func (r *messagesRequest) checkTools() *APIError {
	seen := make(map[string]bool, len(r.Tools))
	for i, t := range r.Tools {
		param := func(field string) string { return fmt.Sprintf("tools.%d.%s", i, field) }
		if t.Name == "" {
			if t.Type != "" && t.Type != "custom" {
				continue // a server's tool, such as one of an MCP server
			}
			return refused(param("name"), "Field required")
		}
		if !isName(t.Name, maxAnthropicToolName) {
			return refused(param("name"), "String should match pattern '^[a-zA-Z0-9_-]{1,%d}$'", maxAnthropicToolName)
		}
		if seen[t.Name] {
			return refused("tools", "Tool names must be unique.")
		}
		seen[t.Name] = true
		if t.Type != "" && t.Type != "custom" {
			continue // the provider defines its schema
		}
		if k := t.InputSchema.Kind(); t.InputSchema == nil || k != '{' {
			if t.InputSchema == nil {
				return refused(param("input_schema"), "Field required")
			}
			return refused(param("input_schema"), "Input should be an object, not %s", kindName(k))
		}
	}
	return r.checkChoice(seen)
}

func (r *messagesRequest) checkChoice(tools map[string]bool) *APIError {
	c := r.ToolChoice
	if c == nil {
		return nil
	}
	switch c.Type {
	case "auto", "any", "none", "tool":
	case "":
		return refused("tool_choice.type", "Field required")
	default:
		return unknownTag("tool_choice", c.Type, "'auto', 'any', 'tool', 'none'")
	}
	switch {
	case len(r.Tools) == 0 && c.Type != "none":
		return refused("tool_choice", "`tool_choice` may only be specified while providing `tools`.")
	case c.Type == "tool" && c.Name == "":
		return refused("tool_choice.tool.name", "Field required")
	case c.Type == "tool" && !tools[c.Name]:
		return refused("", "Tool '%.64s' not found in provided tools", c.Name)
	case r.Thinking != nil && r.Thinking.Type == "enabled" && (c.Type == "any" || c.Type == "tool"):
		return refused("", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	return nil
}

var namePattern = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// isName reports whether name matches ^[a-zA-Z0-9_-]{1,limit}$.
func isName(name string, limit int) bool {
	return len(name) <= limit && namePattern().MatchString(name)
}

func (r *messagesRequest) checkMessages(beta string) *APIError {
	if r.Messages == nil {
		return refused("messages", "Field required")
	}
	if len(r.Messages) == 0 {
		return refused("messages", "at least one message is required")
	}
	for i := range r.Messages {
		if err := r.checkRole(i, beta); err != nil {
			return err
		}
		if err := r.Messages[i].checkContent(i, i == len(r.Messages)-1); err != nil {
			return err
		}
	}
	if last := &r.Messages[len(r.Messages)-1]; llm.Role(last.Role) == llm.Assistant && last.endsInSpace() {
		return refused("messages", "final assistant content cannot end with trailing whitespace")
	}
	return nil
}

// endsInSpace reports whether the last text of a message ends in white space.
func (m *anthropicMessage) endsInSpace() bool {
	last := m.Content.text
	if n := len(m.Content.list); n > 0 {
		last = m.Content.list[n-1].Text
	}
	return strings.TrimRightFunc(last, unicode.IsSpace) != last
}

// checkRole validates the role of message i and its position.
func (r *messagesRequest) checkRole(i int, beta string) *APIError {
	switch role := r.Messages[i].Role; llm.Role(role) {
	case llm.User:
	case llm.Assistant:
		if i == 0 {
			return refused("messages", "first message must use the \"user\" role")
		}
	case llm.System:
		switch {
		case !strings.Contains(beta, betaSystem):
			return refused("messages", "Unexpected role \"system\". "+
				"The Messages API accepts a top-level `system` parameter, not \"system\" as an input message role.")
		case i+1 < len(r.Messages) && llm.Role(r.Messages[i+1].Role) != llm.Assistant:
			return refused(fmt.Sprintf("messages.%d", i), "role 'system' must precede an 'assistant' message or end the array")
		}
	case "":
		return refused(fmt.Sprintf("messages.%d.role", i), "Field required")
	default:
		return refused("messages", "Unexpected role \"%.64s\". Allowed roles are \"user\" or \"assistant\"", role)
	}
	return nil
}

func (m *anthropicMessage) checkContent(i int, last bool) *APIError {
	param := fmt.Sprintf("messages.%d.content", i)
	assistant := llm.Role(m.Role) == llm.Assistant
	switch c := &m.Content; c.kind {
	case 0:
		return refused(param, "Field required")
	case '"', '[':
		if c.text == "" && len(c.list) == 0 && (!last || !assistant) {
			return refused(fmt.Sprintf("messages.%d", i), "all messages must have non-empty content except for the optional final assistant message")
		}
	default:
		return refused(param, "Input should be a valid list, not %s", kindName(c.kind))
	}
	for j := range m.Content.list {
		if err := m.Content.list[j].check(fmt.Sprintf("%s.%d", param, j), assistant); err != nil {
			return err
		}
	}
	return nil
}

// check validates one block by itself. It accepts unknown types, because betas add new ones.
func (b *block) check(param string, assistant bool) *APIError {
	switch b.Type {
	case "":
		return refused(param+".type", "Field required")
	case "text":
		if b.Text == "" {
			return refused("messages", "text content blocks must be non-empty")
		}
	case blockToolUse:
		switch {
		case !assistant:
			return refused(param, "`tool_use` blocks can only be in `assistant` messages")
		case !isName(b.ID, 1<<10):
			return refused(param+".tool_use.id", "String should match pattern '^[a-zA-Z0-9_-]+$'")
		case b.Name == "":
			return refused(param+".tool_use.name", "Field required")
		case b.Input == nil:
			return refused(param+".tool_use.input", "Field required")
		case b.Input.Kind() != '{':
			return refused(param+".tool_use.input", "Input should be a valid dictionary")
		}
	case blockToolResult:
		switch {
		case assistant:
			return refused(param, "`tool_result` blocks can only be in `user` messages")
		case b.ToolUseID == "":
			return refused(param+".tool_result.tool_use_id", "Field required")
		}
	case blockImage, blockDocument:
		return b.checkSource(param)
	case "thinking":
		switch {
		case !assistant:
			return refused(param, "`thinking` blocks can only be in `assistant` messages")
		case b.Signature == nil:
			return refused(param+".thinking.signature", "Field required")
		case strings.HasPrefix(*b.Signature, ownSignature) && *b.Signature != signature(b.Thinking):
			return refused(param, "Invalid `signature` in `thinking` block")
		}
	}
	return nil
}

// checkPairs requires that the user's turn after tool uses begins with exactly one result of
// each, and that there are no other results. Consecutive messages of one role are one turn.
func (r *messagesRequest) checkPairs() *APIError {
	var uses pending
	asked, role := 0, llm.System
	for i := range r.Messages {
		m := &r.Messages[i]
		as := llm.Role(m.Role)
		switch {
		case as == llm.System:
			continue
		case len(uses.open) > 0 && (as == llm.Assistant && role == llm.User || as == llm.User && m.Content.kind == '"'):
			return withoutResult(asked, uses.left())
		case as == llm.Assistant:
			asked = i
		}
		role = as
		if err := m.pair(i, asked, &uses); err != nil {
			return err
		}
	}
	if left := uses.left(); len(left) > 0 {
		return withoutResult(asked, left)
	}
	return nil
}

// pair removes the uses with a result in message i from the open ones, which message asked
// made, and adds the uses of message i.
func (m *anthropicMessage) pair(i, asked int, uses *pending) *APIError {
	for j := range m.Content.list {
		switch b := &m.Content.list[j]; {
		case b.Type == blockToolUse:
			if !uses.ask(b.ID) {
				return refused("messages", "`tool_use` ids must be unique")
			}
		case b.Type == blockToolResult:
			if !uses.answer(b.ToolUseID) {
				return refused(fmt.Sprintf("messages.%d.content.%d", i, j),
					"unexpected `tool_use_id` found in `tool_result` blocks: %.64s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.ToolUseID)
			}
		case llm.Role(m.Role) == llm.User && len(uses.open) > 0:
			return withoutResult(asked, uses.left())
		}
	}
	return nil
}

// withoutResult reports the uses of message i without a result.
func withoutResult(i int, open []string) *APIError {
	return refused(fmt.Sprintf("messages.%d", i),
		"`tool_use` ids were found without `tool_result` blocks immediately after: %.500s. "+
			"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", strings.Join(open, ", "))
}
