package reports_test

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

func experimentTerminal(r result.Experiment, t console.Terminal) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(doc.Terminal(&b, reports.ExperimentDocument(&r), t)).To(Succeed())
	return b.String()
}

func experimentMarkdown(r result.Experiment, limit int) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(doc.Markdown(&b, reports.ExperimentDocument(&r), limit)).To(Succeed())
	return b.String()
}

func experimentPage(r result.Experiment) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(doc.HTML(&b, reports.ExperimentDocument(&r), r.Tool)).To(Succeed())
	return b.String()
}

// lastLine is the last line of what a terminal shows, unwrapped.
func lastLine(r result.Experiment) string {
	GinkgoHelper()
	blocks := strings.Split(strings.TrimSpace(experimentTerminal(r, console.Terminal{Width: 400})), "\n\n")
	return blocks[len(blocks)-1]
}

var _ = Describe("the terminal", Label("H-05"), func() {
	It("shows variants, verdicts and how they were reached", func() {
		golden.Expect("experiment/terminal-80.txt", []byte(experimentTerminal(sampleExperiment(), console.Terminal{})))
		golden.Expect("experiment/terminal-120-color.txt", []byte(experimentTerminal(sampleExperiment(), console.Terminal{Width: 120, Color: true})))
		golden.Expect("experiment/terminal-tune.txt", []byte(experimentTerminal(tuning(), console.Terminal{})))
	})
	DescribeTable("is never wider than asked", func(width int) {
		for _, r := range []result.Experiment{sampleExperiment(), tuning(), hostileExperiment(), {}} {
			for line := range strings.Lines(experimentTerminal(r, console.Terminal{Width: width})) {
				Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", width), line)
			}
		}
	}, Entry("80 columns", 80), Entry("100 columns", 100), Entry("200 columns", 200))
	It("distinguishes verdicts without colours, and colours only on request", func() {
		bare := experimentTerminal(sampleExperiment(), console.Terminal{})
		Expect(bare).NotTo(ContainSubstring("\x1b"))
		Expect(regexp.MustCompile(`\x1b\[[0-9]+m`).ReplaceAllString(experimentTerminal(sampleExperiment(), console.Terminal{Color: true}), "")).To(Equal(bare))
	})
	It("lets no control character through", func() {
		text := experimentTerminal(hostileExperiment(), console.Terminal{})
		Expect(utf8.ValidString(text)).To(BeTrue())
		Expect(strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl)).To(BeFalse())
		Expect(text).NotTo(ContainSubstring("\u202e"))
	})
	It("is short however much was compared", func() {
		r := sampleExperiment()
		for range 300 {
			r.Comparisons, r.Variants, r.Warnings = append(r.Comparisons, r.Comparisons[0]), append(r.Variants, r.Variants[0]), append(r.Warnings, "w")
		}
		text := experimentTerminal(r, console.Terminal{})
		Expect(strings.Count(text, "\n")).To(BeNumerically("<", 350))
		Expect(text).To(ContainSubstring("and 264 more"))
	})

	DescribeTable("ends with what was found", func(change func(*result.Experiment), want string) {
		r := sampleExperiment()
		r.Comparisons = r.Comparisons[:1]
		change(&r)
		Expect(lastLine(r)).To(HaveSuffix(" interview/mirror: " + want))
	},
		Entry("better", func(*result.Experiment) {}, "with-examples is better than shipped by pass: +17.0 points [+8.0 points, +26.0 points]"),
		Entry("worse", func(r *result.Experiment) { r.Comparisons[0].Verdict = result.Worse }, "with-examples is worse than shipped by pass: +17.0 points [+8.0 points, +26.0 points]"),
		Entry("equivalent", func(r *result.Experiment) { r.Comparisons[0].Verdict = result.Equivalent }, "with-examples and shipped are equivalent by pass: +17.0 points [+8.0 points, +26.0 points]"),
		Entry("undecided", func(r *result.Experiment) {
			r.Comparisons[0].Verdict, r.Comparisons[0].Effect = result.Undecided, measure.Value{}
		}, "undecided whether with-examples is better than shipped by pass: the difference is unknown"),
		Entry("a verdict that there is not", func(r *result.Experiment) { r.Comparisons[0].Verdict = "" },
			"undecided whether with-examples is better than shipped by pass: +17.0 points [+8.0 points, +26.0 points]"),
		Entry("several", func(r *result.Experiment) { r.Comparisons = sampleExperiment().Comparisons }, "1 better, 1 worse, 1 equivalent, 1 undecided of 4 comparisons by pass"),
		Entry("none", func(r *result.Experiment) { r.Comparisons = nil }, "nothing was compared"),
		Entry("a promotion", func(r *result.Experiment) { *r = tuning() }, "tone-2 is promoted: it is better than shipped on the held-out scenarios"),
		Entry("none promoted", func(r *result.Experiment) { *r = tuning(); r.Tune.Promoted = false }, "nothing is promoted: shipped stays"),
	)

	It("claims nothing about an unfinished search", func() {
		r := tuning()
		r.Variants, r.Comparisons, r.Scenarios, r.Pareto, r.Used = nil, nil, nil, nil, result.Used{CostKnown: true}
		r.Tune.Promoted, r.Tune.Used.Calls = false, 61
		r.Stopped = result.Stopped{As: result.Capped, Why: "the budget is used up"}
		text := experimentTerminal(r, console.Terminal{})
		Expect(text).To(And(ContainSubstring("the budget is used up"), Not(ContainSubstring("0 scenarios"))))
	})

	It("explains a missing test", func() {
		r := sampleExperiment()
		c := &r.Comparisons[0]
		c.P, c.Adjusted, c.Effect, c.Verdict, c.Why = nil, nil, measure.Value{}, result.Undecided, "every third value is missing"
		for _, text := range []string{experimentTerminal(r, console.Terminal{}), experimentMarkdown(r, 0), experimentPage(r)} {
			Expect(text).To(ContainSubstring("every third value is missing"))
		}
	})

	It("never shows a cost that is not known as if it were", func() {
		r := sampleExperiment()
		r.Used.CostKnown, r.Used.Why = false, "own-model has no price"
		r.Variants[0].Measures[1] = measure.Value{Name: "cost_eur", Unit: "EUR"}
		text := strings.Join(strings.Fields(experimentTerminal(r, console.Terminal{})), " ")
		Expect(text).To(ContainSubstring("at least 6.80 EUR (own-model has no price)"))
		Expect(text).To(MatchRegexp(`shipped 64 of 90 .*unknown`))
	})
})

var _ = Describe("Markdown", Label("H-05"), func() {
	It("shows the results, the decisive ones first", func() {
		golden.Expect("experiment/experiment.md", []byte(experimentMarkdown(sampleExperiment(), 0)))
		golden.Expect("experiment/tune.md", []byte(experimentMarkdown(tuning(), 0)))
	})
	It("keeps to its limit, and counts what it leaves out", func() {
		Expect(len(experimentMarkdown(sampleExperiment(), 2000))).To(BeNumerically("<=", 2000))
		Expect(experimentMarkdown(sampleExperiment(), 2000)).To(MatchRegexp(`… and [0-9]+ more`))
	})
	It("lets no foreign text be Markdown or HTML", func() {
		var out bytes.Buffer
		Expect(goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert([]byte(experimentMarkdown(hostileExperiment(), 0)), &out)).To(Succeed())
		for _, e := range htmlElements(out.String()) {
			Expect([]string{"html", "head", "body", "h2", "h3", "p", "code", "strong", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "em", "h4", "details", "summary", "pre"}).To(ContainElement(e.Data))
		}
	})
})

// htmlElements are all of a document.
func htmlElements(text string) (list []*html.Node) {
	GinkgoHelper()
	doc, err := html.Parse(strings.NewReader(text))
	Expect(err).NotTo(HaveOccurred())
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			list = append(list, n)
		}
	}
	return list
}

var _ = Describe("the page", Label("H-05"), func() {
	It("has verdicts, pictures and what was set", func() {
		text := experimentPage(sampleExperiment())
		Expect(text).To(And(
			ContainSubstring(`<h1 id="headline"><span class="word">better:</span> <bdi>1 better, 1 worse, 1 equivalent, 1 undecided of 4 comparisons by pass</bdi></h1>`),
			ContainSubstring("drive.interview.prompts.mirror"), ContainSubstring("Say what you saw."), ContainSubstring("Lan and DeMets")))
		Expect(strings.Count(text, "<svg")).To(Equal(3), "two kinds of differences, and the plane")
		Expect(experimentPage(tuning())).To(ContainSubstring("The promoted text"))
	})
	It("shows the answers of the pairs that decided, side by side, with the reasons of their scores", func() {
		r := sampleExperiment()
		zero, whole := 0.0, 1.0
		r.Comparisons[0].Shown = []result.Pair{
			{
				Scenario: "own/lea", Trial: 4, Before: result.Side{Value: &zero, Text: "Your order ships on <b>Monday</b>.", Hash: "a"},
				After: result.Side{Value: &whole, Text: "Your order ships on <b>Tuesday</b>.", Hash: "b", Reasons: []result.Reason{{Score: "polite", Pass: true, Why: "it greets <i>"}}},
			},
			{Scenario: "own/lea", Trial: 5, Before: result.Side{Text: "Same.", Hash: "c"}, After: result.Side{Text: "Same.", Hash: "c"}},
			{Scenario: "own/tom", Trial: 1, Before: result.Side{Hash: "d"}, After: result.Side{Hash: "e"}},
			{Scenario: "own/una", Trial: 1},
		}
		text := experimentPage(r)
		Expect(text).To(And(ContainSubstring(`<section id="s-answers"`), ContainSubstring("<bdi>own/lea</bdi>: 2 pairs"), ContainSubstring("<bdi>own/tom</bdi>: 1 pair"),
			MatchRegexp(`Trial 4</b>: <bdi>pass</bdi> <bdi>0.0 %</bdi> with <bdi>shipped</bdi>, <bdi>100.0 %</bdi> with <bdi>with-examples</bdi>`),
			ContainSubstring(`ships on &lt;b&gt;<mark>Monday</mark>`), ContainSubstring(`<bdi>polite</bdi> <b class="pass">passed</b> <i><bdi>it greets &lt;i&gt;</bdi></i>`),
			ContainSubstring("Both answered:"), ContainSubstring("The answers are not stored."), ContainSubstring("Neither trial has an answer.")))
		Expect(text).NotTo(ContainSubstring("<b>Monday"))
		Expect(experimentMarkdown(r, 0)).To(ContainSubstring("ships on <b>Tuesday</b>"))
		d := reports.ExperimentDocument(&r)
		var terminal strings.Builder
		Expect(doc.Terminal(&terminal, d, console.Terminal{Width: 200})).To(Succeed())
		Expect(terminal.String()).To(And(
			ContainSubstring("\nAnswers\nwith-examples against shipped: 4 pairs of answers, side by side, in experiment.html and experiment.md\n"),
			Not(ContainSubstring("that differ most"))))
	})
	It("needs nothing else: no script but its own, no link outside, no request", func() {
		for _, r := range []result.Experiment{sampleExperiment(), tuning(), hostileExperiment(), {}} {
			scripts := 0
			for _, e := range htmlElements(experimentPage(r)) {
				if e.Data == "script" {
					scripts++
					Expect(e.Attr).To(BeEmpty())
				}
				Expect([]string{"iframe", "img", "link", "object", "embed", "form"}).NotTo(ContainElement(e.Data))
				for _, a := range e.Attr {
					Expect(a.Key).NotTo(HavePrefix("on"))
					if a.Key == "href" {
						Expect(a.Val).To(HavePrefix("#"))
					}
				}
			}
			Expect(scripts).To(Equal(1))
		}
	})
	It("shows foreign text as text", func() {
		text := experimentPage(hostileExperiment())
		Expect(utf8.ValidString(text)).To(BeTrue())
		Expect(strings.Count(text, "<script")).To(Equal(1))
		Expect(text).NotTo(Or(ContainSubstring("\x1b"), ContainSubstring("\u202e")))
	})
	It("is the same bytes each time", func() {
		Expect(experimentPage(sampleExperiment())).To(Equal(experimentPage(sampleExperiment())))
	})
})
