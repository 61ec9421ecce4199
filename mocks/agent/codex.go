package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/rehearse-dev/rehearse/llm"
)

func readCodex(h hello) (invocation, error) {
	if len(h.Args) == 0 || h.Args[0] != "exec" {
		return invocation{}, errors.New("this scripted agent needs the subcommand exec")
	}
	o, err := parseArgs(h.Args[1:],
		"--json --skip-git-repo-check --full-auto --ephemeral --dangerously-bypass-approvals-and-sandbox=--yolo --dangerously-bypass-hook-trust",
		"--sandbox=-s --model=-m --cd=-C --config=-c --profile=-p --add-dir --color")
	if err == nil {
		err = o.want("--json", "true")
	}
	if err != nil {
		return invocation{}, err
	}
	if len(o.rest) > 1 && o.rest[0] == "resume" {
		o.rest = o.rest[2:] // here, each invocation is a new conversation
	}
	prompt := ""
	if len(o.rest) > 0 && o.rest[0] != "-" {
		prompt = o.rest[0]
	}
	return invoke(h, prompt, "", o.flags["--model"])
}

// codexAnswer renders the events of "codex exec --json".
func codexAnswer(a *act) {
	a.event(false, object{"type": "thread.started", "thread_id": derive(a.ID, "thread")})
	a.event(false, object{"type": "turn.started"})
	item := func(content bool, kind string, v object) {
		a.event(content, object{"type": kind, "item": v})
	}
	for i, call := range a.ToolCalls {
		id := "item_" + strconv.Itoa(i)
		command := call.Name + " " + call.Arguments
		item(true, "item.started", object{"id": id, "type": "command_execution", "command": command, "status": "in_progress"})
		item(false, "item.completed", object{
			"id": id, "type": "command_execution", "command": command, "aggregated_output": toolOutput, "exit_code": 0, "status": "completed",
		})
	}
	// The real program reports success after a refusal, and failure after a truncated answer.
	if a.Finish == llm.FinishLength && a.failure == "" {
		a.failure, a.exit = "Incomplete response returned, reason: max_output_tokens", 1
	}
	if a.Text != "" && !a.refused {
		item(true, "item.completed", object{"id": "item_" + strconv.Itoa(len(a.ToolCalls)), "type": "agent_message", "text": a.Text})
	}
	if a.failure != "" {
		message := a.failure
		if a.status != 0 {
			message = fmt.Sprintf("unexpected status %d %s: %s", a.status, http.StatusText(a.status), message)
		}
		a.event(false, object{"type": "error", "message": message})
		a.event(false, object{"type": "turn.failed", "error": object{"message": message}})
		return
	}
	u := a.Usage
	a.event(false, object{"type": "turn.completed", "usage": object{
		"input_tokens": u.Input + u.CachedInput + u.CacheWrite, "cached_input_tokens": u.CachedInput,
		"output_tokens": u.Output, "reasoning_output_tokens": u.Reasoning,
	}})
}
