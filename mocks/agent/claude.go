package agent

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
)

// claudeOptions parses the arguments of Claude Code.
func claudeOptions(args []string) (options, error) {
	return parseArgs(args,
		"--print=-p --verbose --dangerously-skip-permissions --include-partial-messages --no-session-persistence --strict-mcp-config",
		"--output-format --model --append-system-prompt --system-prompt --setting-sources --allowedTools=--allowed-tools "+
			"--disallowedTools=--disallowed-tools --tools --max-turns --max-budget-usd --permission-mode --resume=-r --add-dir "+
			"--mcp-config --settings")
}

func readClaude(h hello) (invocation, error) {
	o, err := claudeOptions(h.Args)
	if err == nil {
		err = o.want("--print", "true", "--output-format", "stream-json", "--verbose", "true")
	}
	if err != nil {
		return invocation{}, err
	}
	prompt := ""
	if len(o.rest) > 0 {
		prompt = o.rest[0]
	}
	return invoke(h, prompt, o.flags["--append-system-prompt"]+o.flags["--system-prompt"], o.flags["--model"])
}

// claudeAnswer renders Claude Code's stream-json events.
func claudeAnswer(a *act) {
	session := derive(a.ID, "session")
	if o, err := claudeOptions(a.args); err == nil {
		session = cmp.Or(o.flags["--resume"], session)
	}
	a.event(false, object{
		"type": "system", "subtype": "init", "session_id": session, "model": a.Model,
		"tools": []string{"Bash", "Edit", "Read"}, "permissionMode": "default",
	})
	message := func(content object) {
		a.event(true, object{
			"type": "assistant", "session_id": session, "parent_tool_use_id": nil,
			"message": object{"id": "msg_" + a.ID, "type": "message", "role": "assistant", "model": a.Model, "content": []object{content}},
		})
	}
	denials := []object{}
	for _, call := range a.ToolCalls {
		input := rawJSON(call.Arguments)
		message(object{"type": "tool_use", "id": call.ID, "name": call.Name, "input": input})
		result := object{"type": "tool_result", "tool_use_id": call.ID, "content": toolOutput}
		if !claudePermits(a.args, call) {
			result["content"], result["is_error"] = "Claude requested permissions to use "+call.Name+", but you haven't granted it yet.", true
			denials = append(denials, object{"tool_name": call.Name, "tool_use_id": call.ID, "tool_input": input})
		}
		a.event(false, object{
			"type": "user", "session_id": session, "message": object{"role": "user", "content": []object{result}},
		})
	}
	if a.Text != "" {
		message(object{"type": "text", "text": a.Text})
	}
	if claudeStop(a) == refusal {
		a.failure, a.exit = claudeRefused, 1
	}
	result := claudeResult(a, session)
	result["permission_denials"] = denials
	a.event(false, result)
}

// claudeAsks lists the tools of Claude Code that need a permission. Other tools of a script
// are permitted.
var claudeAsks = []string{"Edit", "Write", "NotebookEdit", "Bash", "WebFetch", "WebSearch"}

// claudePermits reports whether the arguments of an invocation permit a tool call: in the mode
// acceptEdits edits in the working folder (relative paths), and tools that are allowed by name.
func claudePermits(args []string, call llm.ToolCall) bool {
	o, _ := claudeOptions(args) // already validated
	mode, allowed := o.flags["--permission-mode"], o.flags["--allowedTools"]
	var input struct {
		File string `json:"file_path"`
	}
	_ = json.Unmarshal([]byte(call.Arguments), &input)
	switch {
	case !slices.Contains(claudeAsks, call.Name), mode == "bypassPermissions", o.flags["--dangerously-skip-permissions"] != "":
		return true
	case mode+allowed == "": // the settings of the user apply
		return true
	case slices.Contains(strings.FieldsFunc(allowed, func(c rune) bool { return c == ',' || c == ' ' }), call.Name):
		return true
	case call.Name == "Bash" || call.Name == "WebFetch" || call.Name == "WebSearch":
		return false
	}
	return mode == "acceptEdits" && !filepath.IsAbs(input.File)
}

func claudeResult(a *act, session string) object {
	result := object{
		"type": "result", "subtype": "success", "is_error": false, "session_id": session,
		"num_turns": 1 + len(a.ToolCalls), "result": a.Text, "stop_reason": claudeStop(a),
		"duration_ms": (a.First + a.PerToken*time.Duration(a.Usage.Output)).Milliseconds(),
		"usage": object{
			"input_tokens": a.Usage.Input, "cache_read_input_tokens": a.Usage.CachedInput,
			"cache_creation_input_tokens": a.Usage.CacheWrite, "output_tokens": a.Usage.Output,
		},
	}
	if a.usd != nil {
		result["total_cost_usd"] = *a.usd
	}
	if a.failure != "" {
		// As with the real program, the subtype remains "success".
		result["is_error"], result["result"] = true, a.failure
		if a.status != 0 {
			result["api_error_status"] = a.status
		}
	}
	return result
}

const (
	refusal = "refusal"
	// claudeRefused is Claude Code's text for a refusal, with exit status 1.
	claudeRefused = "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy"
)

func claudeStop(a *act) string {
	switch {
	case a.refused || a.Finish == llm.FinishContentFilter:
		return refusal
	case a.Finish == llm.FinishLength:
		return "max_tokens"
	default:
		return "end_turn"
	}
}

// rawJSON returns the arguments of a tool call; as a string if they are not valid JSON.
func rawJSON(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
