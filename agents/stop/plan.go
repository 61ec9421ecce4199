package stop

import "time"

// Plan is an order in which steps can be done.
type Plan struct {
	// Order has each step once, after its dependencies, and otherwise in the order of
	// the message.
	Order []Step `json:"order"`
	// Groups have the ids of steps that depend only on earlier groups: the steps of
	// a group can be done in parallel.
	Groups [][]string `json:"groups"`
	// Estimate is the time for all steps in sequence, Critical that of the longest
	// chain of dependencies.
	Estimate time.Duration `json:"estimate"`
	Critical time.Duration `json:"critical"`
}

// NewPlan orders steps. A step whose id came before is dropped, and so is a
// dependency on a step that is not there or on itself. Of steps that depend on
// each other in a circle, which Judge never returns, one does not wait.
func NewPlan(steps []Step) Plan {
	p := planner{index: make(map[string]int, len(steps))}
	for _, s := range steps {
		if _, known := p.index[s.ID]; !known {
			p.index[s.ID] = len(p.nodes)
			p.nodes = append(p.nodes, node{step: s})
		}
	}
	for i := range p.nodes {
		p.place(i)
	}
	return p.plan
}

// planner places the steps in the message's order, each after its dependencies,
// depth first, which makes the order stable.
type planner struct {
	nodes []node
	index map[string]int
	plan  Plan
}

type node struct {
	step    Step
	reached bool
	placed  bool
	group   int
	ends    time.Duration // at the earliest
}

func (p *planner) place(i int) {
	n := &p.nodes[i]
	if n.reached {
		return
	}
	n.reached = true
	for _, id := range n.step.DependsOn {
		j, known := p.index[id]
		if !known {
			continue
		}
		p.place(j)
		if before := p.nodes[j]; before.placed { // else it is part of a circle
			n.group = max(n.group, before.group+1)
			n.ends = max(n.ends, before.ends)
		}
	}
	n.placed = true
	n.ends += max(n.step.Estimate, 0)
	p.add(n)
}

func (p *planner) add(n *node) {
	plan := &p.plan
	plan.Order = append(plan.Order, n.step)
	for len(plan.Groups) <= n.group {
		plan.Groups = append(plan.Groups, nil)
	}
	plan.Groups[n.group] = append(plan.Groups[n.group], n.step.ID)
	plan.Estimate += max(n.step.Estimate, 0)
	plan.Critical = max(plan.Critical, n.ends)
}
