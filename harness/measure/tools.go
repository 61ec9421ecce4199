package measure

import (
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// ToolFacts describe a call of a tool at a scripted MCP server.
type ToolFacts struct {
	N      int    `cel:"n" json:"n"`
	Server string `cel:"server" json:"server"`
	Tool   string `cel:"tool" json:"tool"`
	// Arguments are compact JSON.
	Arguments string `cel:"arguments" json:"arguments"`
	// Result is the text of the result; Error is the reason why there is none, or the text of a result that
	// reports a failure.
	Result string `cel:"result" json:"result"`
	Error  string `cel:"error" json:"error,omitempty"`
	// Fault is the kind of the injected fault.
	Fault   string  `cel:"fault" json:"fault,omitempty"`
	Latency float64 `cel:"latency" json:"latency"` // seconds, by the script
}

// toolFacts reads the calls of tools in the order in which they ended.
func toolFacts(tr *record.Trial) (all []ToolFacts) {
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if c, ok := event.Read[record.ToolCall](e); ok {
			all = append(all, ToolFacts{
				N: e.N, Server: c.Server, Tool: c.Tool, Arguments: c.Arguments, Result: e.Detail,
				Error: c.Error, Fault: c.Fault, Latency: c.Latency.Seconds(),
			})
		}
	}
	return all
}
