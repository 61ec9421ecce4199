package hook

// This file is the host's side of the contract, with which a harness calls the guard in
// process or as a child process.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Stop describes an agent that is about to stop.
type Stop struct {
	Session string
	// Message is the agent's last message. Copilot CLI and Cursor do not send it, so it must
	// be in the transcript there.
	Message string
	// Request is the user's request; only Gemini CLI sends it, the others have it in the
	// transcript. Default: "Fix the failing test."
	Request string
	// Transcript is the path of the session's transcript; empty if there is none.
	Transcript string
	// Blocks is how many stops of this turn hooks have refused before.
	Blocks int
	// Agent is the id of the subagent that stops; empty for the main agent.
	Agent string
	// Mode is the permission mode where the host has one; default: "default".
	Mode string
	// Status is how the turn ended where the host reports it; default: completed.
	Status string
	// Background is how many background tasks are running; only Claude Code and Qwen Code
	// report it.
	Background int
}

// Input returns what the host writes to the standard input of the hook.
func (h Host) Input(s Stop) ([]byte, error) {
	build := inputs[h]
	if build == nil {
		return nil, fmt.Errorf("%q is not a known host; the hosts are %v", h, Hosts())
	}
	if s.Mode == "" {
		s.Mode = "default"
	}
	fields := build(s)
	if s.Agent != "" && h != Cursor && h != OpenHands && h != Gemini {
		fields["agent_id"], fields["agent_type"] = s.Agent, "general-purpose"
		fields["agent_transcript_path"] = orNull(s.Transcript)
		if _, ok := fields["hook_event_name"]; ok {
			fields["hook_event_name"] = "SubagentStop"
		}
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("write the input of host %s: %w", h, err)
	}
	return append(data, '\n'), nil
}

type fields = map[string]any

// moment is the time in inputs and transcripts.
const moment = "2026-09-19T10:00:00.000Z"

var inputs = map[Host]func(Stop) fields{
	Claude: claude,
	Codex: func(s Stop) fields {
		return fields{
			"session_id": s.Session, "turn_id": "turn-7", "transcript_path": orNull(s.Transcript), "cwd": "/project",
			"hook_event_name": "Stop", "model": "gpt-5-codex", "permission_mode": s.Mode,
			"stop_hook_active": s.Blocks > 0, "last_assistant_message": orNull(s.Message),
		}
	},
	Gemini: func(s Stop) fields {
		return fields{
			"session_id": s.Session, "transcript_path": s.Transcript, "cwd": "/project", "hook_event_name": "AfterAgent",
			"timestamp": moment, "prompt": cmp.Or(s.Request, defaultRequest), "prompt_response": s.Message, "stop_hook_active": s.Blocks > 0,
		}
	},
	Qwen: func(s Stop) fields {
		f := claude(s)
		delete(f, "prompt_id")
		delete(f, "session_crons")
		f["crons"], f["timestamp"], f["context_limit"], f["input_tokens"] = []any{}, moment, 131072, 2048
		return f
	},
	Copilot: func(s Stop) fields {
		return fields{
			"sessionId": s.Session, "timestamp": 1789812000000, "cwd": "/project", "transcriptPath": s.Transcript,
			"stopReason": cmp.Or(s.Status, "end_turn"), "stop_hook_active": s.Blocks > 0,
		}
	},
	Cursor: func(s Stop) fields {
		return fields{
			"conversation_id": s.Session, "generation_id": "9a1b", "model": "composer-1", "hook_event_name": "stop",
			"cursor_version": "2.4.0", "workspace_roots": []string{"/project"}, "user_email": nil,
			"transcript_path": orNull(s.Transcript), "status": cmp.Or(s.Status, "completed"), "loop_count": s.Blocks,
		}
	},
	OpenHands: func(s Stop) fields {
		return fields{
			"event_type": "Stop", "tool_name": nil, "tool_input": nil, "tool_output": nil, "message": orNull(s.Message),
			"session_id": s.Session, "working_dir": "/project", "metadata": fields{"reason": cmp.Or(s.Status, "finish")},
		}
	},
}

func claude(s Stop) fields {
	tasks := make([]any, s.Background)
	for i := range tasks {
		tasks[i] = fields{"id": fmt.Sprintf("task-%d", i+1), "status": "running"}
	}
	f := fields{
		"session_id": s.Session, "prompt_id": "prompt-1", "cwd": "/project", "permission_mode": s.Mode,
		"hook_event_name": "Stop", "stop_hook_active": s.Blocks > 0, "background_tasks": tasks, "session_crons": []any{},
		"transcript_path": s.Transcript,
	}
	if s.Message != "" {
		f["last_assistant_message"] = s.Message
	}
	return f
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

const defaultRequest = "Fix the failing test."

// Transcript returns a transcript as the host writes it, with the user's request (default: as in
// Stop) and the agent's last message.
func (h Host) Transcript(request, message string) ([]byte, error) {
	request = cmp.Or(request, defaultRequest)
	text := func(kind, s string) []fields { return []fields{{"type": kind, "text": s}} }
	var lines []fields
	switch h {
	case Claude:
		lines = []fields{
			{"type": "user", "message": fields{"role": "user", "content": request}},
			{"type": "assistant", "message": fields{"id": "msg_1", "role": "assistant", "content": text("text", message)}},
		}
	case Codex:
		user := fields{"type": "message", "role": "user", "content": text("input_text", request)}
		agent := fields{"type": "message", "role": "assistant", "content": text("output_text", message)}
		lines = []fields{
			{"timestamp": moment, "type": "response_item", "payload": user},
			{"timestamp": moment, "type": "response_item", "payload": agent},
			{"timestamp": moment, "type": "event_msg", "payload": fields{"type": "token_count"}},
		}
	case Gemini:
		lines = []fields{
			{"id": "1", "timestamp": moment, "type": "user", "content": []fields{{"text": request}}},
			{"id": "2", "timestamp": moment, "type": "gemini", "content": message, "thoughts": []any{}},
			{"$set": fields{"lastUpdated": moment}},
		}
	case Qwen:
		lines = []fields{
			{"type": "user", "message": fields{"role": "user", "parts": []fields{{"text": request}}}},
			{"type": "assistant", "message": fields{"role": "model", "parts": []fields{{"text": "Hm.", "thought": true}, {"text": message}}}},
		}
	case Copilot:
		lines = []fields{
			{"type": "user.message", "data": fields{"content": request}},
			{"type": "assistant.message", "data": fields{"messageId": "m1", "content": message, "toolRequests": []any{}}},
			{"type": "assistant.turn_end", "data": fields{"turnId": "1"}},
		}
	case Cursor:
		lines = []fields{
			{"role": "user", "message": fields{"content": text("text", request)}},
			{"role": "assistant", "message": fields{"content": text("text", message)}},
		}
	default:
		return nil, fmt.Errorf("host %q has no transcript", h)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return nil, fmt.Errorf("write a transcript of host %s: %w", h, err)
		}
	}
	return b.Bytes(), nil
}

// Answer is a hook's answer as the host understands it.
type Answer struct {
	Blocked bool   // the agent must go on
	Reason  string // its next prompt if it is blocked
}

// answerKeys are the keys that each host accepts; Codex fails a hook for any other.
var answerKeys = map[Host][]string{
	Claude:    {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput"},
	Codex:     {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage"},
	Gemini:    {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput"},
	Qwen:      {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage", "hookSpecificOutput"},
	Copilot:   {"decision", "reason"},
	Cursor:    {"followup_message"},
	OpenHands: {"continue", "decision", "reason", "additionalContext"},
}

// maxUnits is the longest reason that hosts accept, in UTF-16 units.
const maxUnits = 10_000

// ReadAnswer parses a hook's answer as the host does, but strictly: what a host would ignore
// or warn about is an error.
func (h Host) ReadAnswer(status int, stdout []byte) (Answer, error) {
	switch {
	case answerKeys[h] == nil:
		return Answer{}, fmt.Errorf("%q is not a known host; the hosts are %v", h, Hosts())
	case status != 0:
		return Answer{}, fmt.Errorf("the hook ended with exit status %d", status)
	}
	stdout = bytes.TrimSpace(stdout)
	if len(stdout) == 0 {
		if h == Gemini || h == Qwen || h == Cursor || h == OpenHands {
			return Answer{}, errors.New("the answer is empty; this host expects JSON")
		}
		return Answer{}, nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(stdout, &all); err != nil {
		return Answer{}, fmt.Errorf("the answer is not one JSON object: %w", err)
	}
	for key := range all {
		if !slices.Contains(answerKeys[h], key) {
			return Answer{}, fmt.Errorf("the answer has the key %q, which this host does not know", key)
		}
	}
	var a struct {
		Decision string `json:"decision"`
		Reason   string `json:"reason"`
		FollowUp string `json:"followup_message"`
	}
	if err := json.Unmarshal(stdout, &a); err != nil {
		return Answer{}, fmt.Errorf("the answer has a value of a wrong type: %w", err)
	}
	out := Answer{Blocked: a.Decision == "block" || a.Decision == "deny" || a.FollowUp != "", Reason: a.Reason + a.FollowUp}
	switch {
	case !out.Blocked:
		return Answer{}, nil
	case strings.TrimSpace(out.Reason) == "":
		return Answer{}, errors.New("the agent is blocked without a reason")
	case units(out.Reason) > maxUnits:
		return Answer{}, fmt.Errorf("the reason has %d characters; hosts accept %d", units(out.Reason), maxUnits)
	}
	return out, nil
}

// units returns the length of s in UTF-16 units, as a host written in JavaScript counts it.
func units(s string) (n int) {
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// Command returns what starts the guard as a child process: a program that calls
// Main (this one if executable is empty), and what its environment needs
// beside the parent's.
func (c Config) Command(executable string) (argv, env []string, err error) {
	if executable == "" {
		if executable, err = os.Executable(); err != nil {
			return nil, nil, fmt.Errorf("find the program to start as a hook: %w", err)
		}
	}
	setting, err := json.Marshal(c)
	if err != nil {
		return nil, nil, fmt.Errorf("write the hook's configuration: %w", err)
	}
	return []string{executable}, []string{
		Env + "=" + string(setting),
		// A race-detector build otherwise sleeps for a second before it exits.
		"GORACE=" + strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"), //nolint:forbidigo // keeps the parent's options
	}, nil
}
