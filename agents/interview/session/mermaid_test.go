package session_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

var update = flag.Bool("update", false, "write the diagrams in docs anew")

// id returns a node's name in Mermaid.
func (n node) id(g group) string {
	return strings.ReplaceAll(fmt.Sprintf("%s_%s_%s%d", g.steps[0], n.phase, n.owed, n.index), "-", "_")
}

// what returns what happens at a node.
func (n node) what() string {
	if n.phase == session.Owing {
		return "call"
	}
	return string(n.phase)
}

// mermaid writes the graph as a state diagram of Mermaid.
func mermaid(groups []group) string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, g := range groups {
		fmt.Fprintf(&b, "  state %q as %s {\n    direction LR\n", g.title(), g.steps[0])
		ids := map[place]string{}
		for _, n := range g.nodes {
			ids[n.place] = n.id(g)
			fmt.Fprintf(&b, "    %s: %s (%s)\n", n.id(g), n.name, n.what())
		}
		fmt.Fprintf(&b, "    [*] --> %s\n", g.nodes[0].id(g))
		for _, e := range g.inner {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", ids[e.from], ids[e.to], e.label())
		}
		if g.exit != nil {
			fmt.Fprintf(&b, "    %s --> [*]: %s\n", g.last(), g.exit.label())
		}
		b.WriteString("  }\n")
	}
	fmt.Fprintf(&b, "  [*] --> %s\n", groups[0].steps[0])
	for i, g := range groups {
		if len(g.steps) > 1 {
			fmt.Fprintf(&b, "  %s --> %s: next block\n", g.steps[0], g.steps[0])
		}
		if i+1 < len(groups) {
			fmt.Fprintf(&b, "  %s --> %s\n", g.steps[0], groups[i+1].steps[0])
		}
	}
	fmt.Fprintf(&b, "  %s --> [*]\n", groups[len(groups)-1].steps[0])
	return b.String()
}

// last returns the id of the node from which the group is left.
func (g group) last() string {
	for _, n := range g.nodes {
		from := g.exit.from
		from.step = n.step
		if n.place == from {
			return n.id(g)
		}
	}
	return ""
}

// document is docs/interview-flow.md.
func document(groups []group) string {
	var b strings.Builder
	b.WriteString(`# The flow of an interview

Written by the specs of agents/interview/session, which try every input at every
place that can be reached. Do not edit it: ` + "`make golden`" + ` writes it anew.

![The flow of an interview](interview-flow.svg)

A box is where an interview can be. In a *call* the service owes a message, which
a model writes; everywhere else the candidate is to act. *asking* waits for an
answer (in *question* of a batch, the next one is served from the queue without a
call), *reflecting* for a word on the mirror (or GO), *waiting* for GO. A dashed
arrow is an answer that is heard and not kept, because it leaves open what was
asked: the register ("tu" or "vous"), or the medium (series or films). Every other
input at a box is refused with "out of order" and changes nothing.

| steps | calls | of which |
|---|---|---|
`)
	calls := 0
	for _, g := range groups {
		calls += g.calls()
		var of []string
		for _, n := range g.nodes {
			if n.phase == session.Owing {
				of = append(of, n.name)
			}
		}
		each := ""
		if len(g.steps) > 1 {
			each = " in each"
		}
		list := "none"
		if len(of) > 0 {
			list = strings.Join(of, ", ") + each
		}
		fmt.Fprintf(&b, "| %s | %d | %s |\n", g.title(), g.calls(), list)
	}
	fmt.Fprintf(&b, "| **all** | **%d** | |\n\nThe same as text, for tools that draw Mermaid:\n\n```mermaid\n%s```\n", calls, mermaid(groups))
	return b.String()
}

var _ = Describe("The diagrams in docs", Label("I-02"), func() {
	DescribeTable("are those of the code", func(name string, draw func([]group) string) {
		file := filepath.Join("../../../docs", name)
		got := draw(explore().groups())
		if *update {
			Expect(os.WriteFile(file, []byte(got), 0o644)).To(Succeed())
		}
		want, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(string(want)), "run make golden")
	},
		Entry("as a page", "interview-flow.md", document),
		Entry("as a picture", "interview-flow.svg", svg),
	)
})
