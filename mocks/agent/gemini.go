package agent

func readGemini(h hello) (invocation, error) {
	o, err := parseArgs(h.Args, "--yolo=-y --debug=-d --skip-trust",
		"--prompt=-p --model=-m --output-format=-o --approval-mode --resume=-r --include-directories --allowed-tools --extensions=-e")
	if err == nil {
		err = o.want("--output-format", "stream-json")
	}
	if err != nil {
		return invocation{}, err
	}
	return invoke(h, o.flags["--prompt"], "", o.flags["--model"])
}

// geminiAnswer renders Gemini CLI's stream-json events.
func geminiAnswer(a *act) {
	a.event(false, object{"type": "init", "session_id": derive(a.ID, "session"), "model": a.Model})
	for _, call := range a.ToolCalls {
		a.event(true, object{"type": "tool_use", "tool_name": call.Name, "tool_id": call.ID, "parameters": rawJSON(call.Arguments)})
		a.event(false, object{"type": "tool_result", "tool_id": call.ID, "status": "success", "output": toolOutput})
	}
	if a.Text != "" {
		a.event(true, object{"type": "message", "role": "assistant", "content": a.Text, "delta": true})
	}
	u := a.Usage
	input, output := u.Input+u.CachedInput+u.CacheWrite, u.Output-u.Reasoning
	result := object{"type": "result", "status": "success", "stats": object{
		"total_tokens": input + u.Output, "input_tokens": input, "output_tokens": output, "cached": u.CachedInput,
		"tool_calls": len(a.ToolCalls),
	}}
	if a.failure != "" {
		result["status"], result["error"] = "error", object{"type": "Error", "message": withStatus(a)}
	}
	a.event(false, result)
}
