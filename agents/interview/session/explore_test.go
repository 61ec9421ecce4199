package session_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// place is a state of an interview as the diagram shows it: the questions of one batch
// are one place, and each question of block 2A is a place of its own.
type place struct {
	step  session.Step
	phase session.Phase
	owed  session.Purpose
	index int
}

func placeOf(s session.Session) place {
	p := place{step: s.Step, phase: s.Phase}
	switch {
	case s.Owed != nil:
		p.owed, p.index = s.Owed.Purpose, s.Owed.Index
	case s.Step == session.Block2A:
		p.index = s.Queue.Cursor
	}
	return p
}

// node is a place with its name in the diagram.
type node struct {
	place
	name string // the message or the call
}

// edge leads from a place to another one.
type edge struct {
	from, to place
	labels   []string // of the inputs that cause it
	heard    bool     // accepted, but not stored
}

// graph contains the states and moves that the exploration found.
type graph struct {
	nodes []node // in the order of steps
	edges []edge
}

// explore tries all inputs at every place that can be reached.
func explore() graph {
	var g graph
	seen := map[string]bool{}
	start := session.Start(session.Session{})
	g.node(start)
	queue := []session.Session{start.Session}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		for _, in := range []session.Input{
			session.Answered{Text: "A"},
			session.Answered{Text: "B"},
			session.Answered{Text: "Dark"},
			session.Went{},
			session.Replied{Text: "text", Questions: []string{"1?", "2?", "3?"}},
		} {
			m, err := session.Next(s, in, noon)
			if err != nil {
				Expect(err).To(MatchError(session.ErrInput))
				continue
			}
			g.node(m)
			g.edge(s, in, m)
			if key := whole(m.Session); !seen[key] {
				seen[key] = true
				queue = append(queue, m.Session)
			}
		}
	}
	slices.SortStableFunc(g.nodes, func(a, b node) int {
		return cmp.Compare(slices.Index(session.Steps(), a.step), slices.Index(session.Steps(), b.step))
	})
	return g
}

func (g *graph) node(m session.Move) {
	at := placeOf(m.Session)
	if slices.ContainsFunc(g.nodes, func(n node) bool { return n.place == at }) {
		return
	}
	g.nodes = append(g.nodes, node{at, nameOf(m)})
}

func nameOf(m session.Move) string {
	switch {
	case m.Session.Owed != nil && m.Session.Owed.Purpose == session.PurposeAdaptive:
		return fmt.Sprintf("%s %d", m.Session.Owed.Purpose, m.Session.Owed.Index)
	case m.Session.Owed != nil:
		return string(m.Session.Owed.Purpose)
	case m.Say.Text == "":
		return string(m.Fixed)
	case m.Session.Step == session.Block2A:
		return fmt.Sprintf("%s %d", m.Say.Kind, m.Say.Question)
	case m.Say.Kind == session.KindOther:
		return "profile"
	}
	return string(m.Say.Kind)
}

func (g *graph) edge(before session.Session, in session.Input, m session.Move) {
	from, to := placeOf(before), placeOf(m.Session)
	heard := m.Heard != nil && m.Answer == nil
	i := slices.IndexFunc(g.edges, func(e edge) bool { return e.from == from && e.to == to && e.heard == heard })
	if i < 0 {
		i = len(g.edges)
		g.edges = append(g.edges, edge{from: from, to: to, heard: heard})
	}
	if l := labelOf(before, in, m); !slices.Contains(g.edges[i].labels, l) {
		g.edges[i].labels = append(g.edges[i].labels, l)
	}
}

func labelOf(before session.Session, in session.Input, m session.Move) string {
	switch in.(type) {
	case session.Went:
		return "GO"
	case session.Replied:
		return "reply"
	}
	switch {
	case m.Answer == nil:
		return "unclear"
	case m.Answer.Index == session.Reflection:
		return "comment"
	case m.Session.Register != before.Register:
		return "register"
	case m.Session.Medium != before.Medium:
		return "medium"
	case len(m.Session.Works) != len(before.Works):
		return "works"
	case m.Session.CoreWork != before.CoreWork:
		return "core work"
	case m.Queue == nil:
		return "answer"
	case m.Queue.Complete:
		return "last answer"
	}
	return "answer, next from queue"
}

func (e edge) label() string { return strings.Join(e.labels, " or ") }

// group is steps that differ in their names only.
type group struct {
	steps []session.Step
	nodes []node
	inner []edge // within one step
	exit  *edge  // to the next one; nil at the end
}

// groups divides the graph into steps, and joins equal neighbours except the parts of a
// block.
func (g graph) groups() []group {
	var all []group
	for _, step := range session.Steps() {
		one := group{steps: []session.Step{step}}
		for _, n := range g.nodes {
			if n.step == step {
				one.nodes = append(one.nodes, n)
			}
		}
		for _, e := range g.edges {
			switch {
			case e.from.step != step:
			case e.to.step == step:
				one.inner = append(one.inner, e)
			default:
				Expect(one.exit).To(BeNil(), "%s has one way out", step)
				Expect(e.to.step).To(Equal(step.Next()))
				one.exit = &e
			}
		}
		if last := len(all) - 1; last >= 0 && step.Part() == "" && all[last].steps[0].Part() == "" && all[last].shape() == one.shape() {
			all[last].steps, all[last].exit = append(all[last].steps, step), one.exit
			continue
		}
		all = append(all, one)
	}
	return all
}

// shape returns all of a group without the names of its steps.
func (g group) shape() string {
	var b strings.Builder
	plain := func(p place) place { p.step = ""; return p }
	for _, n := range g.nodes {
		fmt.Fprintln(&b, plain(n.place), n.name)
	}
	for _, e := range g.inner {
		fmt.Fprintln(&b, plain(e.from), plain(e.to), e.labels, e.heard)
	}
	if g.exit != nil {
		fmt.Fprintln(&b, plain(g.exit.from), g.exit.labels)
	}
	return b.String()
}

// calls returns how many calls a pass through the group makes.
func (g group) calls() int {
	n := 0
	for _, node := range g.nodes {
		if node.phase == session.Owing {
			n++
		}
	}
	return n * len(g.steps)
}

// title names the steps of a group for people.
func (g group) title() string {
	first, last := g.steps[0], g.steps[len(g.steps)-1]
	switch {
	case first != last:
		return fmt.Sprintf("Blocks %d to %d", first.Block(), last.Block())
	case strings.HasPrefix(string(first), "BLOC_"):
		return fmt.Sprintf("Block %d%s", first.Block(), first.Part())
	}
	name := g.nodes[0].name
	return strings.ToUpper(name[:1]) + name[1:]
}

var _ = Describe("The graph of all that can happen", func() {
	It("has every step in order, and 24 calls on the way through it", Label("I-02", "I-13"), func() {
		var steps []session.Step
		calls := 0
		for _, g := range explore().groups() {
			steps = append(steps, g.steps...)
			calls += g.calls()
		}
		Expect(steps).To(Equal(session.Steps()))
		Expect(calls).To(Equal(24))
	})

	It("never leads back, except to hear the same question again or the next of its batch", func() {
		g := explore()
		rank := map[place]int{}
		for i, n := range g.nodes {
			rank[n.place] = i
		}
		for _, e := range g.edges {
			if e.from != e.to {
				Expect(rank[e.to]).To(BeNumerically(">", rank[e.from]), "%v", e)
			}
		}
	})

	It("has a way to the end from every place", func() {
		g := explore()
		out := map[place]bool{}
		for _, e := range g.edges {
			if e.from != e.to {
				out[e.from] = true
			}
		}
		for _, n := range g.nodes {
			Expect(out[n.place]).To(Equal(n.phase != session.Finished), "%v", n)
		}
	})
})
