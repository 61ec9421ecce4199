package reports_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// options are the options of all renderers.
type options struct {
	terminal     console.Terminal
	failuresOnly bool
	detail       reports.Detail
	maxBytes     int
}

func asJSON(w io.Writer, r reports.Report, _ options) error        { return reports.JSON(w, r) }
func asJUnit(w io.Writer, r reports.Report, _ options) error       { return reports.JUnit(w, r) }
func asAnnotations(w io.Writer, r reports.Report, _ options) error { return reports.Annotations(w, r) }

func asTAP(w io.Writer, r reports.Report, _ options) error { return reports.TAP(w, r) }

func asMarkdown(w io.Writer, r reports.Report, o options) error {
	return doc.Markdown(w, reports.Document(r, o.failuresOnly), o.maxBytes)
}

func asTerminal(w io.Writer, r reports.Report, o options) error {
	return doc.Terminal(w, reports.TerminalDocument(r, o.detail, o.failuresOnly), o.terminal)
}

type renderer func(io.Writer, reports.Report, options) error

var renderers = map[string]renderer{
	"json": asJSON, "junit": asJUnit, "markdown": asMarkdown,
	"terminal": asTerminal, "annotations": asAnnotations,
}

func render(f renderer, r reports.Report, opts options) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(f(&b, r, opts)).To(Succeed())
	return b.String()
}

var _ = DescribeTable("golden files", Label("H-05"),
	func(f renderer, opts options, file string) {
		got := render(f, sample(), opts)
		golden.Expect(file, []byte(got))
		Expect(render(f, sample(), opts)).To(Equal(got), "rendering twice differs")
	},
	Entry("JSON", renderer(asJSON), options{}, "report.json"),
	Entry("JUnit", renderer(asJUnit), options{}, "junit.xml"),
	Entry("Markdown", renderer(asMarkdown), options{}, "summary.md"),
	Entry("annotations", renderer(asAnnotations), options{}, "annotations.txt"),
	Entry("TAP", renderer(asTAP), options{}, "report.tap"),
	Entry("terminal, plain, 80 columns", renderer(asTerminal), options{}, "terminal-80.txt"),
	Entry("terminal, colours, 120 columns", renderer(asTerminal),
		options{terminal: console.Terminal{Width: 120, Color: true}}, "terminal-120-color.txt"),
	Entry("terminal, failures only", renderer(asTerminal), options{failuresOnly: true}, "terminal-failures.txt"),
	Entry("terminal, quiet, 40 columns, colours", renderer(asTerminal),
		options{detail: reports.Quiet, terminal: console.Terminal{Width: 40, Color: true}}, "terminal-quiet-40-color.txt"),
)

var _ = Describe("JSON", Label("H-05"), func() {
	It("survives a round trip with every field set", func() {
		r := sample()
		text := []byte(render(asJSON, r, options{}))
		var agents struct {
			Totals    map[string]any
			Scenarios []map[string]any
		}
		Expect(json.Unmarshal(text, &agents)).To(Succeed())
		same := func(agents measure.AgentMetrics, in map[string]any) {
			for name, values := range agents.ByName() {
				want, err := json.Marshal(values)
				Expect(err).NotTo(HaveOccurred())
				got, err := json.Marshal(in[name])
				Expect(err).NotTo(HaveOccurred())
				Expect(got).To(MatchJSON(want))
			}
		}
		same(r.Totals.Agents, agents.Totals)
		r.Totals.Agents = nil
		for i := range r.Scenarios {
			same(r.Scenarios[i].Agents, agents.Scenarios[i])
			r.Scenarios[i].Agents = nil
		}
		var back reports.Report
		Expect(json.Unmarshal(text, &back)).To(Succeed())
		Expect(back).To(Equal(r))
	})
	It("has a sample in which every field is set somewhere", func() {
		set := map[string]bool{}
		visit(reflect.ValueOf(sample()), "Report", set)
		visit(reflect.ValueOf(altered()), "Report", set)
		visit(reflect.ValueOf(failedFast(true)), "Report", set)
		for field, nonZero := range set {
			Expect(nonZero).To(BeTrue(), "%s is zero everywhere in the sample", field)
		}
	})
	It("writes verdicts as words and unknown values as null", func() {
		text := render(asJSON, sample(), options{})
		Expect(text).To(ContainSubstring(`"verdict": "fail"`))
		Expect(text).To(MatchRegexp(`"name": "cost_eur",\s+"unit": "EUR",\s+"known": false,\s+"value": null`))
	})
})

// visit notes for each struct field below v whether it was ever non-zero.
func visit(v reflect.Value, name string, set map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Elem(), name, set)
		}
	case reflect.Slice:
		for i := range v.Len() {
			visit(v.Index(i), name, set)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			field := v.Type().Name() + "." + v.Type().Field(i).Name
			set[field] = set[field] || !v.Field(i).IsZero()
			visit(v.Field(i), field, set)
		}
	default: // has no fields
	}
}

var _ = Describe("JUnit", Label("H-05"), func() {
	type testCase struct {
		Name  string    `xml:"name,attr"`
		Fail  *struct{} `xml:"failure"`
		Error *struct{} `xml:"error"`
		Skip  *struct{} `xml:"skipped"`
		Props []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"properties>property"`
	}
	parse := func(text string) []testCase {
		GinkgoHelper()
		var doc struct {
			Tests int        `xml:"tests,attr"`
			Cases []testCase `xml:"testsuite>testcase"`
		}
		dec := xml.NewDecoder(strings.NewReader(text))
		Expect(dec.Decode(&doc)).To(Succeed())
		_, err := dec.Token()
		for err == nil {
			_, err = dec.Token()
		}
		Expect(err).To(Equal(io.EOF), "what follows the document is not well-formed")
		Expect(doc.Cases).To(HaveLen(doc.Tests))
		return doc.Cases
	}

	It("distinguishes failure, error and skipped", func() {
		got := map[string]string{}
		for _, c := range parse(render(asJUnit, sample(), options{})) {
			got[c.Name] = map[bool]string{true: "fail"}[c.Fail != nil] +
				map[bool]string{true: "error"}[c.Error != nil] + map[bool]string{true: "skip"}[c.Skip != nil]
		}
		Expect(got).To(Equal(map[string]string{
			"done-marker": "fail", "no-progress-after-three-identical-answers": "fail", "reset": "error",
			"live": "skip", "four-hours": "skip", "recording": "error", "budget": "error", "interrupted": "error",
		}))
	})
	It("writes unknown and n/a for missing numbers", func() {
		got := map[string]string{}
		for _, c := range parse(render(asJUnit, sample(), options{})) {
			for _, p := range c.Props {
				got[c.Name+" "+p.Name] = p.Value
			}
		}
		Expect(got).To(HaveKeyWithValue("reset cost_eur", "unknown"))
		Expect(got).To(HaveKeyWithValue("live latency_p95", "n/a"))
		Expect(got).To(HaveKeyWithValue("done-marker tokens", "345"))
		Expect(got).To(HaveKeyWithValue("done-marker seed", "7"))
		Expect(got).To(HaveKeyWithValue("done-marker digest", "sha256:0123"))
		Expect(got).To(HaveKeyWithValue("done-marker trials", "1"))
	})
	It("is well-formed whatever a model writes", func() {
		Expect(parse(render(asJUnit, hostile(), options{}))).To(HaveLen(8))
	})
})

var _ = Describe("Markdown", Label("H-05"), func() {
	var (
		tags      = regexp.MustCompile(`</?[a-z0-9]+[^>]*>|<!--.*?-->`)
		contents  = regexp.MustCompile(`(?s)<code>.*?</code>`)
		converter = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	)
	shape := func(r reports.Report) []string {
		GinkgoHelper()
		var out bytes.Buffer
		Expect(converter.Convert([]byte(render(asMarkdown, r, options{})), &out)).To(Succeed())
		return tags.FindAllString(contents.ReplaceAllString(out.String(), "<code>"), -1)
	}

	It("has the same structure whatever a model writes", func() {
		calm := hostile()
		calm.NotRun, calm.Problems, calm.Stopped = []string{"x"}, []string{"x"}, "x"
		calm.Comparison = compared("x")
		for i := range calm.Scenarios {
			s := &calm.Scenarios[i]
			s.Name, s.File, s.About, s.Status = "x/x", "x", "x", "x"
			for j := range s.Findings {
				f := &s.Findings[j]
				f.Rule, f.Message, f.Evidence = "x", "x", "x"
			}
		}
		Expect(shape(hostile())).To(Equal(shape(calm)))
		Expect(shape(calm)).To(ContainElements("<table>", "<li>", "<h3>"))
	})
	It("begins with the marker of the sticky comment", func() {
		Expect(render(asMarkdown, sample(), options{})).To(HavePrefix("<!-- rehearse:report -->" + "\n"))
	})
	DescribeTable("keeps to its bound, with what failed first and the rest counted", func(limit int) {
		text := render(asMarkdown, many(5000), options{maxBytes: limit})
		Expect(len(text)).To(BeNumerically("<=", limit))
		Expect(text).To(ContainSubstring("… and"))
		Expect(text).To(ContainSubstring("more scenarios\n"))
		Expect(text).To(ContainSubstring("loop/scenario-00009"))
	},
		Entry("a comment", 65_000), Entry("a step summary", 400_000))
	It("keeps to tiny bounds", func() {
		for limit := range 600 {
			Expect(len(render(asMarkdown, sample(), options{maxBytes: limit + 1}))).To(BeNumerically("<=", limit+1))
		}
	})
	It("stays below a mebibyte without being asked", func() {
		text := render(asMarkdown, many(20_000), options{})
		Expect(len(text)).To(And(BeNumerically("<", 1<<20), BeNumerically(">", 900_000)))
	})
})

var _ = Describe("the terminal", Label("H-05"), func() {
	DescribeTable("is never wider than asked", func(width int) {
		text := render(asTerminal, sample(), options{terminal: console.Terminal{Width: width}})
		table, _, _ := strings.Cut(text, "\n\n")
		for line := range strings.Lines(table) {
			Expect(console.Width(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", width), line)
		}
		Expect(table).To(And(HavePrefix("in loop/"), ContainSubstring("unknown"), ContainSubstring("n/a")))
	}, Entry("80 columns", 80), Entry("100 columns", 100), Entry("120 columns", 120))

	It("shows names in full where there is room, else in several lines", func() {
		wide := render(asTerminal, sample(), options{terminal: console.Terminal{Width: 200}})
		Expect(strings.SplitN(wide, "\n\n", 2)[0]).To(ContainSubstring("\nguards/no-progress-after-three-identical-answers "))
		narrow := render(asTerminal, sample(), options{terminal: console.Terminal{Width: 80}})
		Expect(narrow).To(MatchRegexp(`(?m)^guards/no-\S+ +fail 3/5.*\n\S+answers$`))
	})
	It("shows names in full where it is a file, so that they can be searched for", func() {
		r := sample()
		r.NotRun = []string{strings.Repeat("long/", 20) + "name"}
		text := render(asTerminal, r, options{})
		Expect(text).To(And(ContainSubstring("\nguards/no-progress-after-three-identical-answers "), ContainSubstring("  "+r.NotRun[0]+"\n")))
	})
	It("shows of a program that failed what it wrote, line by line", func() {
		r := sample()
		r.Scenarios = []reports.Scenario{{Name: "a", Verdict: gate.Error, Findings: []gate.Finding{
			{Severity: gate.Broken, Rule: "agent", Message: "the agent could not be run", Evidence: "exit status 1:\nTraceback\n\n\tfile.py\nKeyError: 'x'"},
		}}}
		Expect(render(asTerminal, r, options{})).To(ContainSubstring(
			"    agent: the agent could not be run\n      exit status 1:\n      Traceback\n        file.py\n      KeyError: 'x'\n"))
		Expect(render(asJUnit, r, options{})).To(ContainSubstring("&#xA;    Traceback&#xA;"))
		Expect(r.Scenarios[0].Leading()).To(HavePrefix("the agent could not be run: exit status 1: Traceback"))
	})
	It("writes a common folder of all names once", func() {
		names := func(list ...string) string {
			r := sample()
			r.Scenarios = r.Scenarios[:0]
			for _, name := range list {
				r.Scenarios = append(r.Scenarios, reports.Scenario{Name: name, Verdict: gate.Pass})
			}
			return render(asTerminal, r, options{})
		}
		Expect(names("a/b/one", "a/b/two")).To(MatchRegexp(`^in a/b/ [^x]*\n-+\none +pass.*\ntwo +pass`))
		Expect(names("a/b/one", "a/c/two")).To(MatchRegexp(`^in a/ [^x]*\n-+\nb/one +pass.*\nc/two +pass`))
		Expect(names("a/one", "b/two")).To(MatchRegexp(`^scenario [^x]*\n-+\na/one +pass.*\nb/two +pass`))
		Expect(names("a/one")).To(MatchRegexp(`^scenario [^x]*\n-+\na/one +pass`))
	})
	DescribeTable("shows money briefly", func(v *float64, known bool, want string) {
		r := sample()
		r.Scenarios = []reports.Scenario{{Name: "x", Verdict: gate.Pass, Measures: []measure.Value{
			{Name: "cost_eur", Unit: "EUR", Known: known, Value: v, N: 1},
		}}}
		Expect(render(asTerminal, r, options{})).To(MatchRegexp(`(?m)^x +pass +\S+ +\S+ +%s +\S+ +\S+$`, want))
	},
		Entry("nothing", new(0.0), true, `0\.00`),
		Entry("less than can be shown", new(0.00009), true, `<0\.0001`),
		Entry("a little", new(0.0001), true, `0\.0001`),
		Entry("four decimals", new(0.12346), true, `0\.1235`),
		Entry("cents from one on", new(12.5), true, `12\.50`),
		Entry("a lower bound as unknown", new(0.5), false, `unknown`),
	)
	It("lets no control character of a model through", func() {
		text := render(asTerminal, hostile(), options{terminal: console.Terminal{Width: 120}})
		Expect(utf8.ValidString(text)).To(BeTrue())
		Expect(strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl)).To(BeFalse())
		Expect(text).NotTo(ContainSubstring("\u202e"))
		Expect(text).To(ContainSubstring(`\x1b[31m`))
	})
	It("colours only where asked", func() {
		Expect(render(asTerminal, sample(), options{})).NotTo(ContainSubstring("\x1b"))
	})
	It("leaves what passed out of the table for failures only, and not out of the totals", func() {
		text := render(asTerminal, sample(), options{failuresOnly: true})
		Expect(text).NotTo(ContainSubstring("done-marker "))
		Expect(text).To(ContainSubstring("4 scenarios: 1 pass"))
	})
})

var _ = Describe("annotations", Label("H-05"), func() {
	It("are one command a line whatever a model writes", func() {
		for line := range strings.Lines(render(asAnnotations, hostile(), options{})) {
			Expect(line).To(MatchRegexp(`^::(error|warning) (file=[^:,]*,line=[0-9]+,)?title=[^:,]*::[^\r\n]*\n$`))
		}
	})
	It("are empty for a run that passed", func() {
		r := sample()
		r.Scenarios, r.Problems, r.Interrupted, r.Stopped, r.Comparison = r.Scenarios[:1], nil, false, "", nil
		Expect(render(asAnnotations, r, options{})).To(BeEmpty())
	})
})

var _ = Describe("a writer that fails", func() {
	It("is reported by every renderer", func() {
		for name, f := range renderers {
			Expect(f(full{}, sample(), options{})).To(MatchError(errFull), name)
		}
		Expect(doc.HTML(full{}, reports.Document(sample(), false), "")).To(MatchError(errFull))
	})
})

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

var _ = DescribeTable("a measure for a person",
	func(unit string, known bool, v *float64, want string) {
		Expect(reports.Text(measure.Value{Unit: unit, Known: known, Value: v})).To(Equal(want))
	},
	Entry("unknown", "EUR", false, nil, "unknown"),
	Entry("a lower bound is not a value", "EUR", false, ptr(1.5), "unknown"),
	Entry("0 of 0", "s", true, nil, "n/a"),
	Entry("a true zero", "EUR", true, ptr(0), "0.00"),
	Entry("cents", "EUR", true, ptr(12.345), "12.35"),
	Entry("small money", "USD", true, ptr(0.0012345), "0.00123"),
	Entry("a count", "", true, ptr(12345), "12,345"),
	Entry("thousands", "", true, ptr(123_456), "123k"),
	Entry("millions", "", true, ptr(12_345_678), "12.3M"),
	Entry("the edge of millions", "", true, ptr(999_999), "1.00M"),
	Entry("billions", "", true, ptr(2e9), "2.00G"),
	Entry("a mean", "", true, ptr(3.25), "3.2"),
	Entry("a small mean", "", true, ptr(0.0125), "0.0125"),
	Entry("microseconds", "s", true, ptr(0.000_045), "45µs"),
	Entry("milliseconds", "s", true, ptr(0.45), "450ms"),
	Entry("seconds", "s", true, ptr(1.254), "1.25s"),
	Entry("minutes", "s", true, ptr(725), "12m 5s"),
	Entry("hours", "s", true, ptr(14400), "4h 0m"),
	Entry("beyond a duration", "s", true, ptr(1e12), "1000000000000s"),
)

var _ = DescribeTable("the verdict of many is the worst",
	func(c reports.Count, want gate.Verdict) {
		Expect(c.Verdict()).To(Equal(want))
	},
	Entry("nothing has passed of nothing", reports.Count{}, gate.Skip),
	Entry("error before fail", reports.Count{Pass: 1, Fail: 1, Error: 1, Skip: 1}, gate.Error),
	Entry("fail before pass", reports.Count{Pass: 9, Fail: 1, Skip: 1}, gate.Fail),
	Entry("pass before skip", reports.Count{Pass: 1, Skip: 9}, gate.Pass),
	Entry("only skipped", reports.Count{Skip: 2}, gate.Skip),
)
