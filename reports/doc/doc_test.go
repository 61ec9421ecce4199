package doc_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

const evil = "\x1b[31m</code>|`x`\n# h <script>@you"

func document(rows int) doc.Document {
	t := doc.Table{Noun: "rows", Max: 3, Columns: []doc.Column{{Head: doc.Line("name"), Shorten: true}, {Head: doc.Line("n"), Right: true}, {Head: doc.Line("notes"), Optional: true}}}
	for i := range rows {
		t.Rows = append(t.Rows, []doc.Text{doc.Line(doc.Quote(evil)), doc.Line(i), doc.Line(strings.Repeat("words ", 20))})
	}
	return doc.Document{
		Kind: "Test", Name: doc.Line(doc.Quote("x")), Verdict: "fail", Tone: doc.Bad, Summary: doc.Line("p < 0.05"),
		Lead: []doc.Block{doc.Section{Title: doc.Line("Lead"), Blocks: []doc.Block{doc.List{Items: []doc.Item{{Text: doc.Line("one"), Evidence: evil}}}}}},
		Body: []doc.Block{t, doc.Details{Title: doc.Line(doc.Quote(evil)), Blocks: []doc.Block{doc.Paragraph(doc.Line("inside"))}}},
	}
}

func terminal(d doc.Document, t console.Terminal) string {
	var b strings.Builder
	Expect(doc.Terminal(&b, d, t)).To(Succeed())
	return b.String()
}

func markdown(d doc.Document, limit int) string {
	var b strings.Builder
	Expect(doc.Markdown(&b, d, limit)).To(Succeed())
	return b.String()
}

func TestTerminalEndsWithWhatDecides(t *testing.T) {
	RegisterTestingT(t)
	text := terminal(document(5), console.Terminal{Width: 80})
	Expect(text).To(HaveSuffix("\nfail x: p < 0.05\n"))
	Expect(strings.Index(text, "Lead")).To(BeNumerically(">", strings.Index(text, "name")))
	Expect(text).To(ContainSubstring("and 2 more rows"))
	Expect(text).NotTo(Or(ContainSubstring("\x1b"), ContainSubstring("inside"), ContainSubstring("words")), "escaped, folded, and no room")
	for line := range strings.Lines(text) {
		Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
	}
}

func TestTerminalKeepsNamesWholeInAFile(t *testing.T) {
	RegisterTestingT(t)
	name := strings.Repeat("name/", 40)
	d := doc.Document{Body: []doc.Block{doc.Paragraph(doc.Line("a ", doc.Quote(name)))}}
	Expect(terminal(d, console.Terminal{})).To(ContainSubstring(name))
	Expect(terminal(d, console.Terminal{Width: 80})).NotTo(ContainSubstring(name))
}

func TestMarkdownBeginsWithWhatDecidesAndEscapes(t *testing.T) {
	RegisterTestingT(t)
	text := markdown(document(1), 0)
	Expect(text).To(HavePrefix("## Test `x`: **FAIL**\n\np &lt; 0.05\n\n### Lead\n"))
	Expect(text).To(ContainSubstring("| `` \\x1b[31m</code>¦`x` # h <script>@you `` | 0 |"))
	Expect(text).To(ContainSubstring("<details><summary>\\x1b[31m&lt;/code&gt;|`x` # h &lt;script&gt;@you</summary>"))
}

func TestMarkdownCutsLongListsAndKeepsShortOnes(t *testing.T) {
	RegisterTestingT(t)
	d := document(1000)
	for i := range 200 {
		d.Body = append(d.Body, doc.Section{Title: doc.Line(fmt.Sprint("section ", i))})
	}
	for limit := 0; limit < 30_000; limit += 371 {
		Expect(len(markdown(d, limit+1))).To(BeNumerically("<=", limit+1))
	}
	text := markdown(d, 10_000)
	Expect(text).To(And(MatchRegexp(`… and \d+ more rows`), ContainSubstring("section 199"), ContainSubstring("- one")))
}

func TestHTMLShowsForeignTextAsText(t *testing.T) {
	RegisterTestingT(t)
	var b strings.Builder
	Expect(doc.HTML(&b, document(2), evil)).To(Succeed())
	Expect(strings.Count(b.String(), "<script")).To(Equal(1))
	Expect(b.String()).NotTo(Or(ContainSubstring("\x1b"), ContainSubstring("</code>|")))
	Expect(b.String()).To(ContainSubstring("default-src &#39;none&#39;; style-src &#39;sha256-"))
}

func TestDiff(t *testing.T) {
	RegisterTestingT(t)
	d := doc.Document{Kind: "Answers", Body: []doc.Block{doc.NewDiff("a <b>", "b", "one\ntwo <i>\nthree\nfour", "one\n2 <i>\nthree\nfour\nfive")}}
	var b strings.Builder
	Expect(doc.HTML(&b, d, "")).To(Succeed())
	Expect(b.String()).To(And(
		ContainSubstring(`<th scope="col">a &lt;b&gt;</th><th scope="col">b</th>`),
		ContainSubstring(`<tr><td class="missing"><mark>two</mark> &lt;i&gt;</td><td class="extra"><mark>2</mark> &lt;i&gt;</td></tr>`),
		ContainSubstring(`<tr><td></td><td class="extra">five</td></tr>`), ContainSubstring(`<tr><td class="same">one</td><td class="same">one</td></tr>`)))
	Expect(markdown(d, 0)).To(ContainSubstring("  one\n- two <i>\n+ 2 <i>\n  three\n  four\n+ five\n"))
}
