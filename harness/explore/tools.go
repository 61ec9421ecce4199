package explore

import (
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// tools plans each call of a tool at an MCP server × each fault.
func (p *plan) tools(golden *path, budget int) {
	if golden.tools == 0 {
		return // most agents have no MCP servers
	}
	var kinds []string
	for _, kind := range perturb.Kinds(perturb.Tool) {
		// Over stdio, clients wait after a malformed message, too.
		if waits := kind == "hang" || kind == "malformed"; waits && golden.realTime && !golden.impatient() {
			p.omit("%s: %s: skipped in real time, because no time limit is at most %s", result.Tools, kind, longest)
			continue
		}
		kinds = append(kinds, kind)
	}
	for _, n := range p.some(result.Tools, golden.tools, len(kinds)*golden.work(), budget) {
		for _, kind := range kinds {
			p.add(result.Tools, perturb.Perturbation{At: perturb.Tool, N: n, Do: kind})
		}
	}
}
