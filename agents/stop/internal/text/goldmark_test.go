package text_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	gtext "github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// commonMark writes documents whose structure Markdown and its readers agree on:
// headings, nested lists, fenced and indented code, quotations and paragraphs.
func commonMark() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		word := rapid.SampledFrom([]string{"alpha", "beta", "gamma delta", "epsilon, zeta"})
		for range rapid.IntRange(1, 8).Draw(t, "blocks") {
			w := word.Draw(t, "text")
			switch rapid.IntRange(0, 7).Draw(t, "kind") {
			case 0:
				b.WriteString(strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")) + " " + w + "\n")
			case 1:
				b.WriteString(w + "\n" + rapid.SampledFrom([]string{"===", "---"}).Draw(t, "line") + "\n\n")
			case 2:
				fence := rapid.SampledFrom([]string{"```", "~~~", "````"}).Draw(t, "fence")
				b.WriteString(fence + "go\n# " + w + "\n\n- x\n" + fence + "\n\n")
			case 3:
				b.WriteString("> " + w + "\n> - " + w + "\n\n")
			case 4:
				b.WriteString("ordinary\n\n    - " + w + "\n\n    # x\n\nordinary\n\n")
			case 5:
				b.WriteString("***\n\n")
			case 6:
				b.WriteString(w + "\n" + w + "\n\n")
			default:
				list(t, &b, w)
			}
		}
		return b.String()
	})
}

// list writes items that go at most one level deeper each.
func list(t *rapid.T, b *strings.Builder, w string) {
	var indents []int
	for i := range rapid.IntRange(1, 6).Draw(t, "items") {
		depth := min(rapid.IntRange(0, 3).Draw(t, "depth"), len(indents))
		indents = indents[:depth]
		indent := 0
		if depth > 0 {
			indent = indents[depth-1]
		}
		marker := rapid.SampledFrom([]string{"- ", "1. ", "* ", "-   "}).Draw(t, "marker")
		fmt.Fprintf(b, "%s%s%s%d\n", strings.Repeat(" ", indent), marker, w, i)
		if rapid.Bool().Draw(t, "goes on") {
			b.WriteString(strings.Repeat(" ", indent+len(marker)) + "more\n")
		}
		indents = append(indents, indent+len(marker))
	}
	b.WriteString("\nafter\n\n")
}

// oracle lists the headings with their levels, the items with their depths, the
// code blocks and the quotations as goldmark finds them.
func oracle(s string) string {
	var b strings.Builder
	root := goldmark.DefaultParser().Parse(gtext.NewReader([]byte(s)))
	depth := -1
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.List:
			depth--
			if entering {
				depth += 2
			}
		case *ast.ListItem:
			if entering {
				fmt.Fprintln(&b, "item", depth)
			}
		case *ast.Heading:
			if entering {
				fmt.Fprintln(&b, "heading", n.Level)
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				fmt.Fprintln(&b, "code")
			}
		case *ast.Blockquote:
			if entering {
				fmt.Fprintln(&b, "quote")
			}
			return ast.WalkSkipChildren, nil
		case *ast.ThematicBreak:
			if entering {
				fmt.Fprintln(&b, "rule")
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(err)
	}
	return b.String()
}

func outline(s string) string {
	var b strings.Builder
	var r text.Reader
	for _, block := range r.Read(s).Blocks {
		switch block.Kind {
		case text.Item:
			fmt.Fprintln(&b, "item", block.Level)
		case text.Heading:
			fmt.Fprintln(&b, "heading", block.Level)
		case text.Code, text.Quote, text.Rule:
			fmt.Fprintln(&b, kinds[block.Kind])
		default:
		}
	}
	return b.String()
}

var _ = Describe("plain CommonMark", func() {
	It("has the outline that goldmark finds", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := commonMark().Draw(t, "document")
			if want, got := oracle(s), outline(s); want != got {
				t.Fatalf("%s\nis for goldmark\n%sand here\n%s", s, want, got)
			}
		})
	})
})
