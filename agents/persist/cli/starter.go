package cli

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// StarterPlan returns a commented plan with the proposed checks, as YAML. The plan's name is
// derived from the given one, such as that of the folder.
func (p Proposal) StarterPlan(name string) string {
	var b strings.Builder
	b.WriteString("# A plan for `rehearse supervise`: what is to be done, and which checks must pass before it\n# stops.\n")
	fmt.Fprintf(&b, "name: %s\n", planName(name))
	b.WriteString(`# Part of the prompt of every task.
goal: Describe in a sentence what all tasks are for.

tasks:
  # Done in this order, each after the tasks in its list after.
  - id: first
    do: |
      Describe what is to be done, and how to see that it is done.
    # after: [another]        # tasks that must be done before
    # files: [README.md]      # files that the task works on; they are in its context
    # retries: 2              # how often a failed attempt is made again
    # by: default             # the name of its worker

# The workers that do the tasks. The default is a runner loop over the backend.
# workers:
#   default: {loop: {max_iterations: 20, stream: true}}
#   auditor: {react: {agent: agents/auditor.agent.md}}
#   script: {command: [./do-task.sh]}

`)
	p.writeChecks(&b)
	b.WriteString(`
# The limits of the run and their defaults.
# limits:
#   rounds: 5          # how often failed checks become tasks
#   check_every: 5     # tasks between two full checks
#   stagnation: 10m    # how long a task may be without activity
#   timeout: 10h       # for the whole run; default: none
#   budget: {cost: 5 EUR}   # default: none
`)
	return b.String()
}

func (p Proposal) writeChecks(b *strings.Builder) {
	b.WriteString("# The checks before a stop; a check that fails becomes a task.\n")
	if len(p.Kinds) == 0 {
		b.WriteString("# No project was recognised here; name your own commands.\n")
	} else {
		fmt.Fprintf(b, "# Recognised: %s.\n", sanitize.Line(strings.Join(p.Kinds, ", "), 0))
	}
	for _, note := range p.Notes {
		fmt.Fprintf(b, "# Note: %s\n", sanitize.Line(note, 200))
	}
	if len(p.Checks) == 0 {
		b.WriteString("# checks:\n#   tests: {command: [make, test]}\n")
		return
	}
	b.WriteString("checks:\n")
	for _, info := range plan.Checks() {
		if probe, ok := p.Checks[info.Name]; ok {
			fmt.Fprintf(b, "  # %s\n  %s: {%s}\n", info.Meaning, info.Name, probeText(probe))
		}
	}
}

func probeText(p plan.Probe) string {
	switch {
	case len(p.Command) > 0:
		return "command: " + listText(p.Command)
	case p.File != "":
		return "file: " + strconv.Quote(p.File)
	}
	return "markers: " + listText(p.Markers) + ", in: " + listText(p.In)
}

// listText returns a list whose items are quoted as Go does, which YAML reads back.
func listText(items []string) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = strconv.Quote(item)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// planName turns a text into a valid name of a plan.
func planName(text string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '.' || r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, text), "-._")
	return cmp.Or(name[:min(len(name), 64)], "project")
}
