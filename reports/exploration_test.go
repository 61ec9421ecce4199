package reports_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

func explorationTerminal(r result.Exploration, t console.Terminal) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(doc.Terminal(&b, reports.ExplorationDocument(&r, nil), t)).To(Succeed())
	return b.String()
}

func explorationMarkdown(r result.Exploration, limit int) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(doc.Markdown(&b, reports.ExplorationDocument(&r, nil), limit)).To(Succeed())
	return b.String()
}

// hostileExploration has a model's and a stranger's worst in every text.
func hostileExploration() result.Exploration {
	r := sampleExploration()
	evil := "\x1b[31m\u202e</code>|`x`\r\n# h\n<script>@you \xff" + strings.Repeat("é", 700)
	r.Scenario, r.Stopped, r.Covered, r.Left = evil, evil, evil, []string{evil}
	r.Golden.Status = evil
	for i := range r.Calls {
		r.Calls[i].Purpose = evil
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Status, c.Details = evil, evil
		c.Command += evil
		for j := range c.Findings {
			c.Findings[j].Message, c.Findings[j].Evidence = evil, evil
		}
		if i%3 == 0 {
			c.Perturb = []string{c.Perturb[0] + evil}
		}
	}
	r.Cells = append(r.Cells,
		result.Cell{Family: result.Faults}, result.Cell{Family: result.Faults, Outcome: result.Failed},
		result.Cell{Family: "later", Perturb: []string{"call=1:x"}, Outcome: "unheard of"},
		result.Cell{Family: result.Faults, Perturb: []string{"call=99999999999999999999:x"}},
		result.Cell{Family: result.Faults, Perturb: []string{"turn=1:x"}},
	)
	return r
}

// manyCalls is an exploration of a thousand calls that all fare differently.
func manyCalls(purpose func(n int) string) result.Exploration {
	r := result.Exploration{Schema: result.ExplorationSchema, Scenario: "persist/ten-hours"}
	for n := 1; n <= 1000; n++ {
		r.Calls = append(r.Calls, result.Call{N: n, Purpose: purpose(n)})
		for i, kind := range faultKinds {
			o := result.Survived
			if n>>(i%10)&1 == 1 {
				o = result.Degraded
			}
			r.Cells = append(r.Cells, result.Cell{Family: result.Faults, Perturb: []string{fmt.Sprintf("call=%d:%s", n, kind)}, Outcome: o})
		}
	}
	return r
}

var _ = Describe("the terminal", func() {
	It("shows a matrix for each family, the counts, and each failure once", func() {
		golden.Expect("exploration/terminal-80.txt", []byte(explorationTerminal(sampleExploration(), console.Terminal{})))
		golden.Expect("exploration/terminal-120-color.txt", []byte(explorationTerminal(sampleExploration(), console.Terminal{Width: 120, Color: true})))
	})
	DescribeTable("is never wider than asked, but for the commands", func(width int) {
		for _, r := range []result.Exploration{sampleExploration(), hostileExploration(), manyCalls(func(int) string { return "" })} {
			for line := range strings.Lines(explorationTerminal(r, console.Terminal{Width: width})) {
				if !strings.HasPrefix(line, "    run again: ") {
					Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", width), line)
				}
			}
		}
	}, Entry("80 columns", 80), Entry("100 columns", 100), Entry("200 columns", 200))
	It("distinguishes outcomes without colours, and colours only on request", func() {
		plain := explorationTerminal(sampleExploration(), console.Terminal{})
		Expect(plain).NotTo(ContainSubstring("\x1b"))
		colored := explorationTerminal(sampleExploration(), console.Terminal{Color: true})
		Expect(regexp.MustCompile(`\x1b\[[0-9]+m`).ReplaceAllString(colored, "")).To(Equal(plain))
	})
	It("lets no control character through", func() {
		text := explorationTerminal(hostileExploration(), console.Terminal{})
		Expect(utf8.ValidString(text)).To(BeTrue())
		Expect(strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl)).To(BeFalse())
		Expect(text).NotTo(ContainSubstring("\u202e"))
	})
	DescribeTable("stays short however long the path is", func(purpose func(n int) string) {
		text := explorationTerminal(manyCalls(purpose), console.Terminal{})
		Expect(strings.Count(text, "\n")).To(BeNumerically("<", 60))
		Expect(text).To(ContainSubstring("each row shows the worst of several"))
	},
		Entry("without purposes", func(int) string { return "" }),
		Entry("with few", func(n int) string { return fmt.Sprint("purpose ", n%3) }),
		Entry("with one for each call", func(n int) string { return fmt.Sprint("purpose ", n) }),
	)
	It("keeps many columns together where there is room, without blanks between them", func() {
		r := result.Exploration{}
		for i := range 30 {
			r.Cells = append(r.Cells, result.Cell{Family: result.Faults, Perturb: []string{fmt.Sprintf("call=1:x%d", i)}, Outcome: result.Survived})
		}
		Expect(explorationTerminal(r, console.Terminal{})).To(ContainSubstring("\ncall 1  " + strings.Repeat(".", 30) + "\n"))
	})
	It("reports an exploration in which nothing took effect", func() {
		r := sampleExploration()
		r.Cells = nil
		Expect(explorationTerminal(r, console.Terminal{})).To(MatchRegexp(`\nerror interview/golden: 0 runs perturbed: 0 survived, 0 degraded, 0 failed;\s+nothing\s+took\s+effect,\s+so\s+nothing\s+is\s+shown; golden path`))
	})
	It("counts the runs that were skipped, with the reason", func() {
		r := sampleExploration()
		r.NotRun, r.Stopped = 12, "interrupted"
		r.Cells = []result.Cell{{Family: result.Faults, Outcome: result.Survived}}
		Expect(explorationTerminal(r, console.Terminal{})).To(MatchRegexp(`\nno failure so far interview/golden: 1 run`))
		Expect(explorationTerminal(r, console.Terminal{})).To(MatchRegexp(`; 12\s+planned\s+and\s+not\s+run \(interrupted\)`))
	})
})

var _ = Describe("a matrix", func() {
	It("joins calls of one purpose that fared alike, and no others", func() {
		r := sampleExploration()
		m := r.Matrices(24)
		Expect(m).To(HaveLen(2))
		var rows []string
		for _, row := range m[0].Rows {
			rows = append(rows, row.Name+" "+row.Ranges())
		}
		Expect(rows).To(Equal([]string{
			"question 1-9,11-16,18-19,21-25", "validation 10", "question 17", "validation 20", "question 26-29", "validation 30",
		}))
		Expect(m[0].Worst).To(BeFalse())
		Expect(m[1].Rows).To(HaveLen(1))
		Expect(m[1].Rows[0].Ranges()).To(Equal("1-12"))
		Expect(m[1].Heads).To(Equal([]string{"crash-before", "crash-after", "disk-full"}))
	})
	It("never hides a failure behind another outcome", func() {
		r := manyCalls(func(int) string { return "" })
		r.Cells[5000].Outcome = result.Failed
		r.Cells[7000].Outcome = result.Errored
		m := r.Matrices(24)
		Expect(m[0].Rows).To(HaveLen(24))
		seen := map[result.Outcome]int{}
		places := 0
		for _, row := range m[0].Rows {
			places += len(row.At)
			for _, o := range row.Cells {
				seen[o]++
			}
		}
		Expect(places).To(Equal(1000))
		Expect(seen).To(And(HaveKeyWithValue(result.Failed, 1), HaveKeyWithValue(result.Errored, 1)))
	})
	It("links each cell to its run", func() {
		r := sampleExploration()
		for _, m := range r.Matrices(3) {
			for _, row := range m.Rows {
				for i, run := range row.Runs {
					Expect(r.Cells[run].Outcome).To(Equal(row.Cells[i]))
					Expect(r.Cells[run].Perturb[0]).To(ContainSubstring(m.Heads[i]))
				}
			}
		}
		r.Cells = r.Cells[:5]
		r.Cells = append(r.Cells, cellOf(2, faultKinds[0]))
		Expect(r.Matrices(24)[0].Rows[1].Runs).To(Equal([]int{5, -1, -1, -1, -1}))
	})
	It("marks crashes that share a run, with their number", func() {
		r := result.Exploration{Golden: measure.Golden{Writes: 863}}
		for n := 1; n <= 17; n++ {
			r.Cells = append(r.Cells, result.Cell{
				Family: result.Crashes, Perturb: []string{fmt.Sprintf("write=%d:crash-before,every=17", n)}, Outcome: result.Survived, Fired: 51,
			})
		}
		const note = "perturbations repeat every 17 writes from the write shown: 17 runs fired 867 times on a path of 863 writes"
		Expect(r.Matrices(24)[0].Note).To(Equal(note))
		r.Cells = append(r.Cells, result.Cell{
			Family: result.Crashes, Perturb: []string{"write=1:disk-full,every=20"}, Outcome: result.Survived, Fired: 1,
		}, result.Cell{
			Family: result.Crashes, Perturb: []string{"write=1:crash-after"}, Outcome: result.Survived, Fired: 1,
		})
		Expect(r.Matrices(24)[0].Note).To(ContainSubstring("every 17 to 20 writes from the write shown: 18 runs fired 868 times"))
		Expect(strings.Join(strings.Fields(explorationTerminal(r, console.Terminal{Width: 80})), " ")).To(ContainSubstring("what happens there; perturbations repeat every 17 to 20 writes from"))
		var markdown bytes.Buffer
		Expect(doc.Markdown(&markdown, reports.ExplorationDocument(&r, nil), 0)).To(Succeed())
		Expect(markdown.String()).To(ContainSubstring("fired 868 times on a path of 863 writes"))
		one := sampleExploration()
		for _, m := range one.Matrices(24) {
			Expect(m.Note).To(BeEmpty(), "a run does what its row says")
		}
	})

	It("takes crashes that repeat at different intervals for the same thing", func() {
		r := result.Exploration{Cells: []result.Cell{
			{Family: result.Crashes, Perturb: []string{"write=1:crash-before,every=10"}, Outcome: result.Survived},
			{Family: result.Crashes, Perturb: []string{"write=2:crash-before,every=7"}, Outcome: result.Failed},
			{Family: result.Crashes, Perturb: []string{"write=2:crash-before"}, Outcome: result.Survived},
		}}
		m := r.Matrices(24)
		Expect(m).To(HaveLen(1))
		Expect(m[0].Heads).To(Equal([]string{"crash-before"}))
		Expect(m[0].Rows).To(HaveLen(2))
		Expect(m[0].Rows[1].Cells).To(Equal([]result.Outcome{result.Failed}))
	})
})

var _ = Describe("failures", func() {
	broken := func(shrunk []string, findings ...gate.Finding) result.Cell {
		return result.Cell{
			Family: result.Faults, Perturb: []string{"call=1:timeout", "call=2:timeout"}, Shrunk: shrunk,
			Outcome: result.Failed, Findings: findings, Command: strings.Join(shrunk, " "),
		}
	}
	says := func(message string) gate.Finding {
		return gate.Finding{Severity: gate.Failing, Rule: "invariant", Message: message}
	}

	It("are shown with the fewest perturbations, of the first run that broke the invariant", func() {
		r := result.Exploration{Cells: []result.Cell{
			broken([]string{"call=1:timeout", "call=2:timeout"}, says("a")),
			broken([]string{"call=3:timeout"}, says("b"), says("a")),
			broken([]string{"call=4:timeout"}, says("a")),
			broken([]string{"call=5:timeout"}, says("a")),
		}}
		list := r.Failures()
		Expect(list).To(HaveLen(2))
		Expect(list[0]).To(HaveField("Finding.Message", "a"))
		Expect(list[0]).To(And(HaveField("Runs", 4), HaveField("Cell", 2), HaveField("Command", "call=4:timeout")))
		Expect(list[1]).To(And(HaveField("Runs", 1), HaveField("Cell", 1)))
	})
	It("do not include notes", func() {
		noted := says("a")
		noted.Severity = gate.Info
		r := result.Exploration{Cells: []result.Cell{broken(nil, noted, says("b"))}}
		Expect(r.Failures()).To(HaveExactElements(HaveField("Finding.Message", "b")))
	})
	It("leave the most frequent reason first", func() {
		because := func(why string) result.Cell {
			return result.Cell{Outcome: result.Unfired, Findings: []gate.Finding{{Severity: gate.Broken, Evidence: why}}}
		}
		r := result.Exploration{Cells: []result.Cell{
			because("call=1:timeout: seldom"), because("call=1:missing-done: often"), because("call=2:timeout: often"), {Outcome: result.Unfired},
		}}
		Expect(r.Reasons(result.Unfired)).To(Equal([]result.Tally{
			{What: "often: missing-done (1), timeout (1)", Runs: 2}, {What: "seldom: timeout (1)", Runs: 1}, {What: "no reason was recorded", Runs: 1},
		}))
	})
})

var _ = Describe("Markdown", func() {
	var (
		tags      = regexp.MustCompile(`</?[a-z0-9]+[^>]*>|<!--.*?-->`)
		contents  = regexp.MustCompile(`(?s)<code>.*?</code>`)
		converter = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	)
	shape := func(r result.Exploration) string {
		GinkgoHelper()
		var out bytes.Buffer
		Expect(converter.Convert([]byte(explorationMarkdown(r, 0)), &out)).To(Succeed())
		return strings.Join(tags.FindAllString(contents.ReplaceAllString(out.String(), "<code>"), -1), "")
	}

	It("shows the same", func() {
		golden.Expect("exploration/explored.md", []byte(explorationMarkdown(sampleExploration(), 0)))
		Expect(explorationMarkdown(sampleExploration(), 0)).To(HavePrefix("<!-- rehearse:explore -->" + "\n"))
		Expect(shape(sampleExploration())).To(ContainSubstring("<table>"))
	})
	It("lets nothing foreign out of its code spans", func() {
		Expect(shape(hostileExploration())).NotTo(Or(ContainSubstring("<script"), ContainSubstring("<h1")))
		Expect(contents.ReplaceAllString(explorationMarkdown(hostileExploration(), 0), "")).NotTo(ContainSubstring("\x1b"))
	})
	It("keeps to its bound", func() {
		for _, limit := range []int{1, 100, 300, 1000, 3000} {
			Expect(len(explorationMarkdown(sampleExploration(), limit))).To(BeNumerically("<=", limit))
		}
		Expect(explorationMarkdown(sampleExploration(), 1800)).To(ContainSubstring("… and"))
	})
})

var _ = DescribeTable("the verdict", func(want gate.Verdict, outcomes ...result.Outcome) {
	var r result.Exploration
	for _, o := range outcomes {
		r.Cells = append(r.Cells, result.Cell{Outcome: o})
	}
	Expect(r.Verdict()).To(Equal(want))
},
	Entry("nothing was run", gate.Error),
	Entry("nothing took effect", gate.Error, result.Unfired, result.Unfired),
	Entry("what took effect broke nothing", gate.Pass, result.Survived, result.Degraded, result.Unfired),
	Entry("something broke", gate.Fail, result.Survived, result.Failed),
	Entry("an errored cell", gate.Error, result.Survived, result.Errored, result.Failed),
	Entry("of a later version", gate.Error, result.Survived, result.Outcome("new")),
)

// FuzzExploration renders any texts and outcomes of a file.
func FuzzExploration(f *testing.F) {
	f.Add("fault", "call=1:x", "failed", "invariant", "words", 1)
	f.Add("fault", "call=1:status,status=503", "survived", "", "", 3)
	f.Add("later", "write=2:crash-before,every=3", "unheard of", "promise", "\x1b[31m", 0)
	f.Fuzz(func(t *testing.T, family, perturb, outcome, rule, message string, times int) {
		r := result.Exploration{Calls: []result.Call{{N: 1, Purpose: message}}}
		for i := range max(0, min(times, 5)) {
			r.Cells = append(r.Cells, result.Cell{
				Family: result.Family(family), Perturb: []string{perturb, perturb}[:1+i%2], Outcome: result.Outcome(outcome),
				Findings: []gate.Finding{{Severity: gate.Failing, Rule: rule, Message: message, Evidence: perturb}},
			})
		}
		var out bytes.Buffer
		if err := doc.Terminal(&out, reports.ExplorationDocument(&r, nil), console.Terminal{}); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), unicode.IsControl) {
			t.Fatalf("a control character reaches the terminal: %q", out.String())
		}
		if err := doc.Markdown(io.Discard, reports.ExplorationDocument(&r, nil), 0); err != nil {
			t.Fatal(err)
		}
	})
}
