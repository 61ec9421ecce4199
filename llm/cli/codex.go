package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// codexEvent is one line of "codex exec --json".
type codexEvent struct {
	eventHead
	Thread  string    `json:"thread_id"` // thread.started
	Message string    `json:"message"`   // error
	Item    codexItem `json:"item"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // turn.failed
	Usage *codexUsage `json:"usage"`
}

// codexItem is a message or an action of codex.
type codexItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Text   string `json:"text"`
	Status string `json:"status"`
	// Of a command_execution.
	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    *int   `json:"exit_code"`
	// Of an mcp_tool_call.
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Of a file_change.
	Changes []struct {
		Path string `json:"path"`
	} `json:"changes"`
	Query string `json:"query"` // of a web_search
}

// codexTalk has the types of items that are not tool calls.
var codexTalk = []string{"agent_message", "reasoning", "todo_list", "plan", "error"}

// codexUsage counts cached input within input, and reasoning within output.
type codexUsage struct {
	Input     int `json:"input_tokens"`
	Cached    int `json:"cached_input_tokens"`
	Output    int `json:"output_tokens"`
	Reasoning int `json:"reasoning_output_tokens"`
}

// codexReconnecting is the prefix of an error event after which codex continues. After codexOffline, it waits for
// the network without a time limit.
const (
	codexReconnecting = "Reconnecting"
	codexOffline      = codexReconnecting + "... waiting for network"
)

// The call fails after this number of codexOffline events in a row. Before any answer, codex has already retried
// for several seconds; later, the network may come back.
const (
	maxOfflineAtStart = 1
	maxOfflineLater   = 10
)

func codexLine(a *answer, line []byte) {
	var e codexEvent
	kind, ok := a.event(line, &e)
	if !ok {
		return
	}
	if kind != "error" {
		a.offline = 0
	}
	switch kind {
	case "thread.started":
		a.began(e.Thread)
	case "item.started":
		codexBegun(a, e.Item)
	case "item.completed":
		codexBegun(a, e.Item) // some tool calls have no other event
		codexDone(a, e.Item)
	case "turn.completed":
		a.ended, a.lastError = true, ""
		if u := e.Usage; u != nil {
			a.usage = a.since(*reported(llm.Usage{
				Input: u.Input - u.Cached, CachedInput: u.Cached, Output: u.Output, Reasoning: u.Reasoning,
			}))
		}
	case "turn.failed":
		a.fail(e.Error.Message, 0)
	case "error":
		codexError(a, e.Message)
	case "turn.started", "item.updated": // of no interest
	default:
		a.unknownEvent(kind)
	}
}

// codexError processes an error event, which may be transient.
func codexError(a *answer, message string) {
	a.lastError = message
	switch {
	case strings.HasPrefix(message, codexOffline):
		a.retried(llm.Unavailable, 0)
		most := maxOfflineAtStart
		if a.calls > 0 || a.all.Len() > 0 {
			most = maxOfflineLater
		}
		if a.offline++; a.offline >= most {
			a.giveUp("it cannot reach its backend: " + message)
		}
	case strings.HasPrefix(message, codexReconnecting):
		a.retried(kindOf(message, 0), 0)
	case a.ended:
		a.fail(message, 0)
	}
}

// codexBegun processes the start of an item.
func codexBegun(a *answer, item codexItem) {
	if item.Type == "" || slices.Contains(codexTalk, item.Type) {
		return
	}
	name := item.Type
	if item.Tool != "" {
		name = strings.TrimPrefix(item.Server+"."+item.Tool, ".")
	}
	a.tool(item.ID, name)
}

// codexDone processes the end of an item.
func codexDone(a *answer, item codexItem) {
	if !slices.Contains(codexTalk, item.Type) {
		a.result(item.Status != "failed" && item.Status != "declined")
	}
	switch {
	case item.Type == "agent_message" && item.Text != "":
		a.text = item.Text
		a.sayWhole(a.text)
	case item.Status == "declined":
		about := cmp.Or(unwrapped(item.Command), item.Query)
		if len(item.Changes) > 0 {
			about = item.Changes[0].Path
		}
		a.deny(item.ID, "", about)
	case item.Type == "command_execution" && item.Exit != nil && a.confined:
		a.sandboxed(item.ID, item.Command, item.Output, *item.Exit)
	}
}

// codexRejected is codex's message on standard error about a patch that its sandbox rejects. There is no
// event for it.
var codexRejected = lazyregexp.New(`(?m)error=(patch rejected: .+?|.+?)(?:; rejected by user approval settings)$`)

// codexComplaints processes rejected patches.
func codexComplaints(a *answer, stderr string) {
	for _, m := range codexRejected().FindAllStringSubmatch(stderr, llm.MaxDenials) {
		a.deny("", "apply_patch", strings.TrimPrefix(m[1], "patch rejected: "))
	}
}
