package react

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// The limits of the parts of a prompt, in characters.
const (
	maxBody   = 60_000
	maxSchema = 20_000
	maxInput  = 60_000 // of the task and of each input
)

// form describes the documents that an agent writes; its argument is the number of iterations.
//
//go:embed form.md
var form string

// toolForm describes the tools of an agent, like form.
//
//go:embed form_tools.md
var toolForm string

// system returns the system message: the agent's role, the form of its answers, its actions
// and its contract.
func (r *runner) system() string {
	a := r.agent
	var b strings.Builder
	b.WriteString(clip(strings.TrimSpace(a.Body), maxBody))
	b.WriteString("\n\n")
	if r.tools != nil {
		fmt.Fprintf(&b, strings.TrimSuffix(toolForm, "\n"), r.max)
	} else {
		fmt.Fprintf(&b, strings.TrimSuffix(form, "\n"), r.max)
		b.WriteString("\n\n# Your actions\n\n" + strings.TrimSpace(r.set.Describe()))
	}
	if ids := r.delegateIDs(); len(ids) > 0 {
		b.WriteString("\n\nAgents that you may delegate to:")
		for _, id := range ids {
			b.WriteString("\n- " + withDescription(id, r.deps.Agents[id].Description))
		}
	}
	b.WriteString("\n\n# Your contract\n")
	for _, in := range a.Contract.Inputs {
		need := "optional"
		if in.Required {
			need = "required"
		}
		b.WriteString("\n- input " + withDescription(in.Name+" ("+need+")", in.Description))
	}
	writeSection(&b, "Constraints", a.Contract.Constraints)
	if a.Contract.Output != nil {
		b.WriteString("\n\nThe final output is JSON, or YAML, that this JSON Schema describes:\n" + clip(string(a.Contract.Output), maxSchema))
	}
	writeSection(&b, "You are done when", a.Done)
	writeSection(&b, "Escalate when", a.Triggers)
	writeSection(&b, "Questions to ask yourself", a.Thoughts)
	return b.String()
}

func withDescription(name, description string) string {
	if description == "" {
		return name
	}
	return name + ": " + oneLine(description)
}

func writeSection(b *strings.Builder, title string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n\n" + title + ":")
	for _, item := range items {
		b.WriteString("\n- " + item)
	}
}

// delegateIDs returns the ids of the agents that this one may delegate to.
func (r *runner) delegateIDs() []string {
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(r.deps.Agents)) {
		if checkDelegation(r.deps.Agents, r.agent, r.chain, id, r.options.Depth) == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// prompt returns the first user message, with the task.
func (t Task) prompt(a *agentfile.Agent) string {
	var b strings.Builder
	b.WriteString("The task:\n")
	if strings.TrimSpace(t.Do) != "" {
		b.WriteString(quoteLines(bounded(t.Do, maxInput)))
	}
	for _, name := range t.orderedInputs(a) {
		b.WriteString("\nInput " + oneLine(name) + ":\n" + quoteLines(bounded(inputText(t.Input[name]), maxInput)))
	}
	return b.String()
}

// orderedInputs returns the names of the inputs: first in the order of the contract, then
// the others by name.
func (t Task) orderedInputs(a *agentfile.Agent) []string {
	var ordered []string
	for _, name := range append(inputNames(a.Contract), slices.Sorted(maps.Keys(t.Input))...) {
		if _, ok := t.Input[name]; ok && !slices.Contains(ordered, name) {
			ordered = append(ordered, name)
		}
	}
	return ordered
}

func (t Task) texts(a *agentfile.Agent) []string {
	all := []string{t.Do}
	for _, name := range t.orderedInputs(a) {
		all = append(all, inputText(t.Input[name]))
	}
	return all
}

// inputText returns an input as the model reads it.
func inputText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

// wanted is the instruction for each phase.
var wanted = map[phase]string{
	phaseAct:     "Write the next step: thought, action and action_input. End the answer there.",
	phaseReflect: "Write the reflection on this observation, with decision and reason.",
	phaseVerify:  "Write the verification of the contract, then ---, then the final output.",
	phaseRevise:  "Write the verification again, then ---, then the whole revised output.",
}

// wantedCall is the instruction for each phase if the agent has tools.
var wantedCall = map[phase]string{
	phaseAct:     "Call the next action, with its thought.",
	phaseReflect: "Call the next action with its thought and a reflection on this result, or decide.",
	phaseVerify:  "Call done again, with the verification of the contract and the final output.",
	phaseRevise:  "Call done again, with the verification and the whole revised output.",
}

func (r *runner) wanted() string {
	if r.tools != nil {
		return wantedCall[r.phase]
	}
	return wanted[r.phase]
}

// observationPrompt returns the prompt with the result of an action. Each line of the text is
// quoted, because it is data and must not pass as an instruction or a document.
func observationPrompt(n int, action string, failed bool, text string) string {
	state := "was done"
	if failed {
		state = "could not be done"
	}
	return fmt.Sprintf("Observation %d: the action %s %s.\n%s", n, oneLine(action), state, quoteLines(text))
}

// omittedPrompt replaces an old observationPrompt in a long dialogue.
func omittedPrompt(n int, action, text string) string {
	return fmt.Sprintf("Observation %d of the action %s is left out here, as the conversation is long; "+
		"it had %d characters and began:\n%s", n, oneLine(action), len([]rune(text)), quoteLines(oneLine(text)))
}

// quoteLines puts "| " before each line of a text.
func quoteLines(text string) string {
	return "| " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n| ")
}

// answerPrompt gives a person's answer to an escalation or an obstacle.
func answerPrompt(answer string) string {
	return "A person answered:\n" + quoteLines(bounded(answer, maxInput))
}

// refusalPrompt asks for a step again.
func refusalPrompt(bad *refusal, wanted string) string {
	return "That was not accepted: " + bad.String() + "\n\n" + wanted
}

// revisionPrompt asks for an output that passes its verification.
func revisionPrompt(findings []string) string {
	return "The output was not accepted, as the verification does not hold:\n- " + strings.Join(findings, "\n- ")
}
