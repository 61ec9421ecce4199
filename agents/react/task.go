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

// checkFor validates a task against the contract of an agent. It returns the ending if the task is
// invalid or lacks a required input.
func (t Task) checkFor(a *agentfile.Agent) *ending {
	if err := t.unknown(a.Contract); err != nil {
		return invalidEnding(ErrTask, err)
	}
	if missing := t.missing(a.Contract); len(missing) > 0 {
		inputNames := strings.Join(missing, ", ")
		return &ending{
			Ending:   run.Ending{Status: StatusEscalate, Details: "no call was made, as required inputs are missing: " + inputNames},
			trigger:  Missing,
			question: fmt.Sprintf("%s needs inputs that were not given: %s. What are they?", a.ID, inputNames),
		}
	}
	if strings.TrimSpace(t.Do) == "" && len(t.Input) == 0 {
		return invalidEnding(ErrTask, errors.New("nothing is asked for; say what to do, or give inputs"))
	}
	switch err := a.Contract.CheckInput(t.Input); {
	case errors.Is(err, agentfile.ErrNoMatch):
		return invalidEnding(ErrTask, err)
	case err != nil:
		return invalidEnding(ErrAgent, err)
	}
	return nil
}

// invalidEnding returns the ending of a run that cannot begin.
func invalidEnding(what, why error) *ending {
	return toEnding(run.Failed(fmt.Errorf("%w: %w", what, why)))
}

// unknown returns an error for an input that the contract does not have. A contract without
// inputs accepts any.
func (t Task) unknown(c agentfile.Contract) error {
	known := inputNames(c)
	if len(known) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(t.Input)) {
		if slices.Contains(known, name) {
			continue
		}
		return fmt.Errorf("the contract has no input %q%s; it has %s", oneLine(name), suggest.Hint(name, known), strings.Join(known, ", "))
	}
	return nil
}

// inputNames returns the names of the inputs of a contract and of its schema.
func inputNames(c agentfile.Contract) []string {
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

// missing returns the required inputs that the task lacks.
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
	return slices.DeleteFunc(required, func(name string) bool { return isGiven(t.Input[name]) })
}

// isGiven reports whether an input is neither nil nor blank.
func isGiven(v any) bool {
	text, isText := v.(string)
	return v != nil && (!isText || strings.TrimSpace(text) != "")
}

// inputKeys has the keys of an input schema that the engine uses.
type inputKeys struct {
	Properties map[string]any `json:"properties"`
	Required   []string       `json:"required"`
}

func inputSchema(c agentfile.Contract) inputKeys {
	var keys inputKeys
	if len(c.InputSchema) > 0 && json.Unmarshal(c.InputSchema, &keys) != nil {
		return inputKeys{} // CheckInput reports the error
	}
	return keys
}
