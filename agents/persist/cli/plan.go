package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	reactcli "github.com/rehearse-dev/rehearse/agents/react/cli"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// ReadPlan reads the file of a plan and the agent files that it names.
func ReadPlan(name string) (plan.Plan, error) {
	data, err := input.ReadFile("plan", name, yamlsrc.MaxBytes)
	if err != nil {
		return plan.Plan{}, err
	}
	p, found := ParsePlan(name, data)
	return p, found.Err()
}

// ParsePlan reads a plan and the agent files that it names.
func ParsePlan(name string, data []byte) (plan.Plan, yamlsrc.Diagnostics) {
	p, found := plan.Parse(name, data)
	if len(found) > 0 {
		return p, found
	}
	var again plan.Plan
	doc, _ := yamlsrc.Decode(name, data, &again) // for positions
	seen := map[string]bool{}
	for _, worker := range slices.Sorted(maps.Keys(p.Workers)) {
		if p.Workers[worker].React == nil {
			continue
		}
		file := filepath.Join(filepath.Dir(name), filepath.FromSlash(p.Workers[worker].React.Agent))
		content, err := input.ReadFile("agent file", file, agentfile.MaxBytes)
		if err != nil {
			found = append(found, doc.At(yamlsrc.Join("workers", worker)+".react.agent", err.Error(), ""))
			continue
		}
		agent, wrong := reactcli.ParseAgent(file, content)
		if !seen[file] {
			found = append(found, wrong...)
		}
		seen[file] = true
		if agent != nil {
			found = append(found, missingInputs(doc, p, worker, agent)...)
		}
	}
	found.Sort()
	return p, found
}

// missingInputs returns the tasks of a worker without an input that its agent requires.
func missingInputs(doc *yamlsrc.Document, p plan.Plan, worker string, agent *agentfile.Agent) (found yamlsrc.Diagnostics) {
	for i, task := range p.Tasks {
		if task.Worker() != worker {
			continue
		}
		for _, in := range agent.Contract.Inputs {
			if _, given := task.Input[in.Name]; in.Required && !given {
				found = append(found, doc.At(fmt.Sprintf("tasks[%d].input", i),
					fmt.Sprintf("the agent %s requires the input %q, which is missing", agent.ID, in.Name), ""))
			}
		}
	}
	return found
}
