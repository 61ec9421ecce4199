package agent

import (
	"fmt"
	"net/http"
)

func readCopilot(h hello) (invocation, error) {
	o, err := parseArgs(h.Args,
		"--silent=-s --allow-all-tools --allow-all=--yolo --allow-all-paths --allow-all-urls --no-ask-user --autopilot "+
			"--no-custom-instructions --disable-builtin-mcps",
		"--prompt=-p --output-format --model --max-autopilot-continues --resume --allow-tool --deny-tool "+
			"--available-tools --excluded-tools --agent --add-dir --share")
	if err == nil {
		err = o.want("--output-format", "json")
	}
	if err != nil {
		return invocation{}, err
	}
	return invoke(h, o.flags["--prompt"], "", o.flags["--model"])
}

// copilotAnswer renders Copilot CLI's JSON events. They carry no token counts.
func copilotAnswer(a *act) {
	event := func(content bool, kind string, data object) {
		a.event(content, object{"type": kind, "id": derive(a.ID, fmt.Sprint(kind, len(a.lines))), "data": data})
	}
	event(false, "session.tools_updated", object{"model": a.Model})
	message := func(content string, requests []object) {
		event(true, "assistant.message", object{
			"messageId": derive(a.ID, fmt.Sprint("message", len(a.lines))), "content": content, "toolRequests": requests,
		})
	}
	for _, call := range a.ToolCalls {
		message("", []object{{"toolCallId": call.ID, "name": call.Name, "arguments": rawJSON(call.Arguments)}})
		event(false, "tool.execution_complete", object{
			"toolCallId": call.ID, "success": true, "result": object{"content": toolOutput},
		})
	}
	if a.Text != "" {
		message(a.Text, []object{})
	}
	exit := a.exit
	if a.failure != "" {
		event(false, "session.error", object{"message": withStatus(a)})
		exit = max(exit, 1) // the event reports a failure even if the process does not
	}
	a.event(false, object{
		"type": "result", "sessionId": derive(a.ID, "session"), "exitCode": exit, "usage": object{"premiumRequests": 1},
	})
}

// withStatus returns the failure with the provider's status, for agents that report it only as text.
func withStatus(a *act) string {
	if a.status == 0 {
		return a.failure
	}
	return fmt.Sprintf("[%d %s] %s", a.status, http.StatusText(a.status), a.failure)
}
