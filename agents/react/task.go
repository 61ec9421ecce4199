package react

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// against checks a task against an agent's contract and returns why no call must
// be made for it: it is not valid, or a required input is missing, which only a
// person can give.
func (t Task) against(a *agentfile.Agent) *ending {
	if err := t.unknown(a.Contract); err != nil {
		return invalid(ErrTask, err)
	}
	if missing := t.missing(a.Contract); len(missing) > 0 {
		names := strings.Join(missing, ", ")
		return &ending{
			Ending:   run.Ending{Status: StatusEscalate, Details: "no call was made, as required inputs are missing: " + names},
			trigger:  Missing,
			question: fmt.Sprintf("%s needs inputs that were not given: %s. What are they?", a.ID, names),
		}
	}
	if strings.TrimSpace(t.Do) == "" && len(t.Input) == 0 {
		return invalid(ErrTask, errors.New("nothing is asked for; say what to do, or give inputs"))
	}
	switch err := a.Contract.CheckInput(t.Input); {
	case errors.Is(err, agentfile.ErrNoMatch):
		return invalid(ErrTask, err)
	case err != nil:
		return invalid(ErrAgent, err)
	}
	return nil
}

// invalid returns the end of a run that cannot begin.
func invalid(what, why error) *ending {
	return ended(run.Failed(fmt.Errorf("%w: %w", what, why)))
}

// unknown returns an error for an input that the contract does not have. A contract that
// names no inputs takes any.
func (t Task) unknown(c agentfile.Contract) error {
	known := names(c)
	if len(known) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Input)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := ""
		if near := suggest.Nearest(name, known); near != "" {
			hint = fmt.Sprintf(" (did you mean %q?)", near)
		}
		return fmt.Errorf("the contract has no input %q%s; it has %s", line(name), hint, strings.Join(known, ", "))
	}
	return nil
}

// names returns all inputs of a contract; those of the schema are added in their
// order by name.
func names(c agentfile.Contract) []string {
	var all []string
	for _, in := range c.Inputs {
		all = append(all, in.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(inputSchema(c).Properties)) {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// missing returns the required inputs that a task does not give.
func (t Task) missing(c agentfile.Contract) []string {
	var required []string
	for _, in := range c.Inputs {
		if in.Required {
			required = append(required, in.Name)
		}
	}
	for _, name := range inputSchema(c).Required {
		if !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	return slices.DeleteFunc(required, func(name string) bool { return given(t.Input[name]) })
}

// given reports whether an input says something.
func given(v any) bool {
	text, isText := v.(string)
	return v != nil && (!isText || strings.TrimSpace(text) != "")
}

// schemaHead is what the engine itself reads of an input schema.
type schemaHead struct {
	Properties map[string]any `json:"properties"`
	Required   []string       `json:"required"`
}

func inputSchema(c agentfile.Contract) schemaHead {
	var head schemaHead
	if len(c.InputSchema) > 0 && json.Unmarshal(c.InputSchema, &head) != nil {
		return schemaHead{} // CheckInput says what is wrong with it
	}
	return head
}
