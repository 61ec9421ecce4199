package hook

import (
	"encoding/json"
)

// Host is a coding agent that calls hooks.
type Host string

// The hosts, with the event that the hook is for and where the contract is documented.
const (
	// Auto recognises the host by its input.
	Auto Host = "auto"
	// Claude is Claude Code, events Stop and SubagentStop:
	// code.claude.com/docs/en/hooks.
	Claude Host = "claude"
	// Codex is Codex CLI, events Stop and SubagentStop: the schemas in
	// codex-rs/hooks/schema/generated of openai/codex.
	Codex Host = "codex"
	// Gemini is Gemini CLI, event AfterAgent: geminicli.com/docs/hooks/reference.
	Gemini Host = "gemini"
	// Qwen is Qwen Code, event Stop: docs/users/features/hooks.md of
	// QwenLM/qwen-code.
	Qwen Host = "qwen"
	// Copilot is GitHub Copilot CLI, events agentStop and subagentStop, or Stop in
	// the form of VS Code: docs.github.com/en/copilot/reference/hooks-reference.
	Copilot Host = "copilot"
	// Cursor has the event stop, which cannot be refused but takes a follow-up
	// message: cursor.com/docs/hooks.
	Cursor Host = "cursor"
	// OpenHands is the OpenHands SDK, event Stop: openhands/sdk/hooks of
	// OpenHands/software-agent-sdk.
	OpenHands Host = "openhands"
)

// Hosts lists all hosts but Auto.
func Hosts() []Host { return []Host{Claude, Codex, Gemini, Qwen, Copilot, Cursor, OpenHands} }

// contract describes the answers that a host expects.
type contract struct {
	refusal string // the value of "decision"; empty: a follow-up message
	leave   string // what is written to let the agent stop
	// flagged is whether the host says truly, with each stop, whether the agent is
	// on its way because a stop was refused. Qwen Code had the flag hard-coded for
	// long, Cursor counts for the whole conversation, OpenHands says nothing.
	flagged bool
}

var contracts = map[Host]contract{
	Claude:    {refusal: "block", flagged: true},
	Codex:     {refusal: "block", flagged: true},
	Copilot:   {refusal: "block", flagged: true},
	Qwen:      {refusal: "block", leave: "{}\n"},
	Gemini:    {refusal: "deny", leave: "{}\n", flagged: true}, // reads standard error if there is nothing else
	OpenHands: {refusal: "deny", leave: `{"decision":"allow"}` + "\n"},
	Cursor:    {leave: "{}\n"},
	Auto:      {leave: "{}\n"}, // means nothing to every host
}

// encode writes the answer: leave to stop if reason is empty. It has only keys
// that the host allows; Codex takes a hook with any other for a failed one.
func encode(host Host, reason string) []byte {
	c := contracts[host]
	if reason == "" || host == Auto {
		return []byte(c.leave)
	}
	answer := struct {
		Decision string `json:"decision,omitempty"`
		Reason   string `json:"reason,omitempty"`
		FollowUp string `json:"followup_message,omitempty"`
	}{Decision: c.refusal, Reason: reason}
	if c.refusal == "" {
		answer.Reason, answer.FollowUp = "", reason
	}
	data, err := json.Marshal(answer)
	if err != nil { // strings cannot fail to encode
		return []byte(c.leave)
	}
	return append(data, '\n')
}
