package page_test

import (
	"fmt"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/reports/page"
)

const lost = "no-answer-lost: a finished interview holds every answer"

// losing is an exploration of an interview that loses an answer at every crash before
// one of its durable writes: kinds different ones, of which each crash breaks one.
func losing(writes, kinds int) run {
	golden := record.Scenario{Name: "interview/short", File: "shipped:interview/short", Trials: 1, Agent: "interview"}
	r := run{head: record.Run{ID: "losing", Tool: "rehearse 1.2.3"}}
	r.add(golden, dialogue(golden.Name, 1, [2]string{"A", "B"}))
	e := result.Exploration{Schema: result.ExplorationSchema, Scenario: golden.Name, Agent: "interview"}
	for n := 1; n <= writes; n++ {
		for _, kind := range []string{"crash-before", "crash-after"} {
			c := result.Cell{Family: result.Crashes, Perturb: []string{fmt.Sprintf("write=%d:%s", n, kind)}, Outcome: result.Survived, Fired: 1}
			if kind == "crash-before" {
				c.Outcome, c.Shrunk, c.Command = result.Failed, c.Perturb, "rehearse run interview/short --perturb '"+c.Perturb[0]+"'"
				c.Findings = []gate.Finding{
					{Severity: gate.Failing, Rule: "promise", Message: gate.ViolationMessage, Evidence: "question " + strings.Repeat("x", 1+n%kinds) + " has no answer"},
					{Severity: gate.Failing, Rule: "invariant", Message: lost, Evidence: "interview.answers = 3"},
				}
				broken := golden
				broken.Name, broken.Perturb = fmt.Sprintf("%s [%s]", golden.Name, c.Perturb[0]), c.Perturb
				r.add(broken, dialogue(broken.Name, 1, [2]string{"A", "B"}), c.Findings...)
			}
			e.Cells = append(e.Cells, c)
		}
	}
	r.input.Explored = append(r.input.Explored, e)
	return r
}

// plainText returns the visible text between two texts of a page.
func plainText(html, from, to string) string {
	GinkgoHelper()
	_, rest, ok := strings.Cut(html, from)
	Expect(ok).To(BeTrue(), from)
	text, _, ok := strings.Cut(rest, to)
	Expect(ok).To(BeTrue(), to)
	text = regexp.MustCompile(`(?s)<svg.*?</svg>|<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(text), " ")
}

var _ = Describe("The page of an exploration", func() {
	It("shows each thing that breaks once, what most runs broke first, and the matrix right below", func() {
		html := losing(60, 8).page(page.Options{})
		Expect(html).NotTo(ContainSubstring(`id="attention"`))
		shown := plainText(html, "<h4>Failures</h4>", "<h4>Survival</h4>")
		Expect(shown).To(HavePrefix("invariant : " + lost + " interview.answers = 3 in 60 runs: crash-before (60) smallest: write=1:crash-before run again: rehearse run interview/short --perturb &#39;write=1:crash-before&#39;"))
		Expect(strings.Count(shown, lost)).To(Equal(1))
		for kind := range 8 {
			Expect(strings.Count(shown, "promise : question "+strings.Repeat("x", 1+kind)+" has no answer")).To(Equal(1), "which promise it is")
		}
		Expect(shown).NotTo(ContainSubstring(gate.ViolationMessage))
		Expect(html).To(ContainSubstring(`smallest: <a href="#interview/short-write-1-crash-before"><bdi>write=1:crash-before</bdi></a>`))
		Expect(html).To(ContainSubstring(`id="interview/short-write-1-crash-before"`))
	})

	It("marks crashes that are driven in groups", func() {
		r := losing(2, 1)
		e := &r.input.Explored[0]
		for i := range e.Cells {
			e.Cells[i].Perturb = []string{e.Cells[i].Perturb[0] + ",every=17"}
		}
		e.Golden.Writes = 40
		Expect(plainText(r.page(page.Options{}), `class="heat few"><caption>`, "</caption>")).To(ContainSubstring(
			"; perturbations repeat every 17 writes from the write shown: 4 runs fired 4 times on a path of 40 writes"))
		Expect(losing(2, 1).page(page.Options{})).NotTo(ContainSubstring("perturbations repeat"))
	})

	It("counts the driven and the recorded runs", func() {
		html := losing(60, 1).page(page.Options{})
		Expect(plainText(html, `<h1 id="headline">`, "</h1>")).To(Equal("fail. 120 runs perturbed: 60 survived, 0 degraded, 60 failed"))
		Expect(plainText(html, `<dl class="numbers">`, "</dl>")).To(HavePrefix("perturbed runs 120 driven trials 61 recorded calls 61 "))
		Expect(html).To(ContainSubstring("An exploration records the golden path and the smallest run of each failure."))
	})

	It("folds families without a failure, and leads from each cell to how its runs ended", func() {
		r := losing(3, 1)
		e := &r.input.Explored[0]
		e.File = "orders.yaml"
		for n := 1; n <= 3; n++ {
			e.Cells = append(e.Cells, result.Cell{
				Family: result.Latency, Perturb: []string{fmt.Sprintf("call=%d:latency,first=59.999999999s", n)}, Outcome: result.Degraded,
				Status: "error", Details: "the provider <b>is gone</b>", Calls: n,
			})
		}
		html := r.page(page.Options{})
		Expect(html).To(MatchRegexp(`<details class="more" open><summary><b><bdi>crash</bdi></b>: 6 runs, <b class="pass">3 survived</b>, <b class="fail">3 failed</b></summary>`))
		Expect(html).To(MatchRegexp(`<details class="more"><summary><b><bdi>latency</bdi></b>: 3 runs, <b class="info">3 degraded</b></summary>`))
		Expect(strings.Index(html, "<bdi>crash</bdi></b>: 6")).To(BeNumerically("<", strings.Index(html, "<bdi>latency</bdi></b>: 3")), "failures first")
		Expect(html).To(ContainSubstring("<span>latency,first=&lt;1m 0s</span>"))
		to := regexp.MustCompile(`<td class="info"><a href="#([^"]*)">`).FindStringSubmatch(html)
		Expect(to).NotTo(BeNil(), "a degraded cell can be opened")
		Expect(plainText(html, `id="`+to[1]+`"`, "</ul>")).To(ContainSubstring("~ degraded : 3 runs, error after 1 to 3 calls: the provider &lt;b&gt;is gone&lt;/b&gt;"))
		Expect(html).To(ContainSubstring("rehearse run orders.yaml --perturb &#39;call=1:latency,first=59.999999999s&#39;"))
		Expect(strings.Count(html, "<svg")).To(Equal(0), "no picture of the same")
	})

	It("still warns of what did not pass beside the exploration", func() {
		r := losing(3, 1)
		other := record.Scenario{Name: "orders/other [call=1:timeout]", Trials: 1, Agent: "loop", Perturb: []string{"call=1:timeout"}}
		r.add(other, dialogue(other.Name, 1, [2]string{"A", "B"}), gate.Finding{Severity: gate.Failing, Rule: "promise", Message: gate.ViolationMessage, Evidence: "never sends twice"})
		r.trials[0].findings = []gate.Finding{{Severity: gate.Info, Message: "a note"}, {Severity: gate.Failing, Rule: "calls", Message: "too many"}}
		html := r.page(page.Options{})
		Expect(plainText(html, `<h3>Did not pass</h3>`, "</section>")).To(Equal(
			"interview/short calls too many Run again: rehearse run interview/short " +
				"orders/other [call=1:timeout] promise never sends twice Run again: rehearse run orders/other --perturb &#39;call=1:timeout&#39;"))
	})

	It("explains runs without a verdict, and counts the failures it leaves out", func() {
		r := losing(70, 70)
		r.input.Explored[0].Cells[1].Outcome = result.Errored
		r.input.Explored[0].Cells[1].Findings = []gate.Finding{{Severity: gate.Broken, Message: "the process did not start", Evidence: "no such file"}}
		html := r.page(page.Options{})
		Expect(plainText(html, "<h4>No verdict</h4>", "</ul>")).To(Equal("1 run: the process did not start: no such file"))
		Expect(html).To(ContainSubstring("<summary>60 more failures</summary>"), "70 promises, one of which is shown with the invariant")
	})
})
