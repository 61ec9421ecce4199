package cli

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// activity collects the actions of an agent other than talking: its tool calls and those
// that its own permissions refused.
type activity struct {
	onActivity func(tool string)
	// confined means that shell commands run in a sandbox, so a write that fails for want
	// of a writable file system is a denial.
	confined bool

	tools   map[string]string // names of tool calls by their ids
	denials []denial
}

// denial is a refused tool call with its id, by which a second report of it is known.
type denial struct {
	id string
	llm.Denial
	// command is that of a shell command that failed in a sandbox.
	command string
}

// alive reports an event that is not a tool call.
func (v *activity) alive() {
	if v.onActivity != nil {
		v.onActivity("")
	}
}

// tool reports that a tool call begins; a second report of the same id is ignored.
func (v *activity) tool(id, name string) {
	if _, known := v.tools[id]; known && id != "" {
		return
	}
	if v.tools == nil {
		v.tools = map[string]string{}
	}
	v.tools[id] = name
	if v.onActivity != nil {
		v.onActivity(name)
	}
}

// deny takes a refused tool call; of one that is known already it fills in what was
// missing.
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
}

// maxDetail is the largest length of Denial.Detail, in characters.
const maxDetail = 160

// reported returns the denials of a reply.
func (v *activity) reported() []llm.Denial {
	var all []llm.Denial
	for _, d := range v.denials {
		all = append(all, d.Denial)
	}
	return all
}

// subject returns the argument of a tool call that names its object, by the usual names of
// such arguments, or else all arguments.
func subject(arguments json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(arguments, &fields) == nil {
		for _, name := range []string{"file_path", "path", "notebook_path", "command", "url", "query", "pattern"} {
			var text string
			if json.Unmarshal(fields[name], &text) == nil && text != "" {
				return text
			}
		}
	}
	return string(arguments)
}

// readOnly matches the messages of shells and programs about a write that a sandbox
// prevents.
var (
	readOnly      = regexp.MustCompile(`(?i)read-only file system|\[Errno 30\]`)
	readOnlyShell = regexp.MustCompile(`(?m)^(?:/\S*/)?(?:ba|da|z|k)?sh: .*: Read-only file system$`)
)

// sandboxed takes a shell command that ended within a sandbox which keeps it from
// writing. One that prevented a write is a denial, until the same command succeeds,
// alone or within another one: an agent may have found a folder where it may write.
func (v *activity) sandboxed(id, command, output string, exit int) {
	command = unwrapped(command)
	switch {
	case readOnlyShell.MatchString(output), exit != 0 && readOnly.MatchString(output):
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
