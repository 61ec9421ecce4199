package cli

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// activity collects the tool calls of an agent, and the calls that its permissions denied.
type activity struct {
	onActivity func(tool string)
	// confined is true if shell commands run in a sandbox: a write to a read-only file system is
	// then a denial.
	confined bool
	// observing is true with read-only access: a call of a tool that acts is then a denial.
	observing bool

	// bounded is true if the request limits the turns or the cost.
	bounded bool
	// maxTools, maxDenied and maxFailed end the call at that many tool calls, at that many denied calls of one
	// tool, and at that many failed calls in a row; 0: never. Then stopped is set.
	maxTools, maxDenied, maxFailed int
	stopped                        llm.FinishReason

	tools    map[string]string // names of tool calls by their ids
	subjects map[string]string // of tool calls by their ids
	calls    int
	failing  int            // calls in a row that failed
	denied   map[string]int // calls by tool
	denials  []denial
}

// denial is a denied tool call with its id, which identifies repeated reports.
type denial struct {
	id string
	llm.Denial
	// command is a shell command that failed in a sandbox.
	command string
}

// alive reports an event other than a tool call.
func (v *activity) alive() {
	if v.onActivity != nil {
		v.onActivity("")
	}
}

// tool reports the start of a tool call, once for each id.
func (v *activity) tool(id, name string) {
	if _, known := v.tools[id]; known && id != "" {
		return
	}
	if v.tools == nil {
		v.tools = map[string]string{}
	}
	v.tools[id] = name
	if v.calls++; v.maxTools > 0 && v.calls > v.maxTools {
		v.stop(llm.FinishTurns)
	}
	if v.onActivity != nil {
		v.onActivity(name)
	}
}

// result counts the end of a tool call. Calls that were denied have failed, too.
func (v *activity) result(ok bool) {
	if ok {
		v.failing = 0
		return
	}
	if v.failing++; v.maxFailed > 0 && v.failing >= v.maxFailed {
		v.stop(llm.FinishFailures)
	}
}

// about records the subject of a tool call, for a denial.
func (v *activity) about(id, subject string) {
	if v.subjects == nil {
		v.subjects = map[string]string{}
	}
	v.subjects[id] = sanitize.Line(subject, maxDetail)
}

// deny adds a denied tool call, or adds missing details to a known one.
func (v *activity) deny(id, tool, detail string) {
	v.refuse(denial{id: id, Denial: llm.Denial{Tool: tool, Detail: detail}})
}

func (v *activity) refuse(d denial) {
	if d.Tool == "" {
		d.Tool = v.tools[d.id]
	}
	if d.Tool == "" {
		d.Tool = "tool"
	}
	d.Tool, d.Detail = sanitize.Line(d.Tool, maxDetail), sanitize.Line(d.Detail, maxDetail)
	if i := slices.IndexFunc(v.denials, func(known denial) bool { return d.id != "" && known.id == d.id }); i >= 0 {
		v.denials[i] = d
		return
	}
	if len(v.denials) < llm.MaxDenials {
		v.denials = append(v.denials, d)
	}
	if v.denied == nil {
		v.denied = map[string]int{}
	}
	if v.denied[d.Tool]++; v.maxDenied > 0 && v.denied[d.Tool] >= v.maxDenied {
		v.stop(llm.FinishDenials)
	}
}

// stop records the first limit that the agent reached.
func (v *activity) stop(at llm.FinishReason) { v.stopped = cmp.Or(v.stopped, at) }

// maxDetail limits Denial.Detail, in characters.
const maxDetail = 160

func (v *activity) reported() []llm.Denial {
	var all []llm.Denial
	for _, d := range v.denials {
		all = append(all, d.Denial)
	}
	return all
}

// subject returns the argument with the object of a tool call, by its usual names, or all arguments.
func subject(arguments json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) == nil {
		for _, name := range []string{"file_path", "filePath", "path", "notebook_path", "command", "url", "query", "pattern"} {
			var text string
			if json.Unmarshal(fields[name], &text) == nil && text != "" {
				return text
			}
		}
	}
	return string(arguments)
}

// readOnly matches messages of shells and programs about a write that a sandbox prevented.
var (
	readOnly      = lazyregexp.New(`(?i)read-only file system|\[Errno 30\]`)
	readOnlyShell = lazyregexp.New(`(?m)^(?:/\S*/)?(?:ba|da|z|k)?sh: .*: Read-only file system$`)
)

// sandboxed records the end of a shell command in a sandbox. A prevented write is a denial until the
// same command succeeds, alone or within another one: the agent may have found a writable folder.
func (v *activity) sandboxed(id, command, output string, exit int) {
	command = unwrapped(command)
	switch {
	case readOnlyShell().MatchString(output), exit != 0 && readOnly().MatchString(output):
		v.refuse(denial{id: id, Denial: llm.Denial{Tool: "command_execution", Detail: command}, command: command})
	case exit == 0:
		v.denials = slices.DeleteFunc(v.denials, func(d denial) bool {
			return d.command != "" && strings.Contains(command, d.command)
		})
	}
}

// unwrapped returns a command without the shell that codex runs it in.
func unwrapped(command string) string {
	_, inner, found := strings.Cut(command, "sh -lc ")
	if !found {
		return command
	}
	if n := len(inner); n > 1 && (inner[0] == '\'' || inner[0] == '"') && inner[n-1] == inner[0] {
		return inner[1 : n-1]
	}
	return inner
}
