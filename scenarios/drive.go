package scenarios

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// agents are the keys of the agents that are given, in the order of the type.
func (d *Drive) agents() []string {
	var keys []string
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		if !v.Field(i).IsNil() {
			key, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			keys = append(keys, key)
		}
	}
	return keys
}

// checkDrive checks what is driven, and that it can end as the scenario expects.
func (c *checker) checkDrive(sc *Scenario) {
	if several := sc.Drive.agents(); len(several) > 1 {
		c.add("drive", "", "the scenario drives several agents: %s; a scenario drives exactly one", strings.Join(several, ", "))
		return
	}
	var agent string
	var statuses []string
	switch d := sc.Drive; {
	case d.Loop != nil:
		agent = "the loop"
		c.checkLoop(d.Loop)
		for _, s := range loop.Statuses() {
			statuses = append(statuses, string(s.Status))
		}
	case d.Hook != nil:
		agent = "a host with a hook"
		c.checkHook(d.Hook)
		statuses = []string{HookStopped, HookOverridden, HookError}
	case d.Interview != nil:
		agent = "an interview"
		c.checkInterview(d.Interview)
		statuses = []string{InterviewFinished, InterviewFailed, InterviewLeft, InterviewError}
	case d.Supervise != nil:
		agent, statuses = "a supervised run", c.checkSupervise(d.Supervise)
	case d.React != nil:
		agent, statuses = "a ReAct agent", c.checkReact(d.React)
	case d.Function != nil:
		agent, statuses = "a Go function", c.checkTalk("drive.function", &d.Function.Talk)
	case d.Command != nil:
		agent, statuses = "a command", c.checkCommand(d.Command)
	case d.HTTP != nil:
		agent, statuses = "an HTTP application", c.checkHTTP(d.HTTP)
	case d.Container != nil:
		agent, statuses = "a container", c.checkContainer(d.Container)
	case d.Coding != nil:
		agent, statuses = "a coding agent", c.checkTalk("drive.coding", &d.Coding.Talk)
	default:
		c.add("drive", "", `the scenario drives no agent; write what is driven, such as "loop: {prompt: ...}"`)
		return
	}
	if status := sc.Expect.Status; status != "" && !slices.Contains(statuses, status) {
		c.add("expect.status", suggest.Nearest(status, statuses), "%s never ends with status %q; there are %s", agent, status, strings.Join(statuses, ", "))
	}
}

// checkLoop resolves the options as a run does, and places what is wrong where
// the value that won was given.
func (c *checker) checkLoop(d *LoopDrive) {
	file := loop.Options{}
	if d.Config != nil {
		file = *d.Config
	}
	_, err := loop.Resolve(d.Options, file)
	fields, _ := errors.AsType[loop.FieldErrors](err)
	for _, f := range fields {
		path := "drive.loop." + f.Field
		if inFile := "drive.loop.config." + f.Field; !c.doc.Has(path) && c.doc.Has(inFile) {
			path = inFile
		}
		c.add(path, "", "%s %s", f.Field, f.Message)
	}
}

func (c *checker) checkHook(d *HookDrive) {
	if strings.TrimSpace(d.Prompt) == "" {
		c.add("drive.hook", "", "the prompt is empty; say what the agent is to do")
	}
	if d.Host == "" {
		c.add("drive.hook", "", "the host is missing; say whose hook it is, such as host: claude")
	}
}
