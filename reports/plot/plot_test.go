package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// evil breaks out of text, attributes and elements, if it can.
const evil = "\x1b[31m\x00\u202e\"'></title></svg><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\xff\r\n日本"

// element is a parsed element.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// parsed parses a picture as strict XML.
func parsed(svg []byte) []element {
	GinkgoHelper()
	dec := xml.NewDecoder(bytes.NewReader(svg))
	var list []element
	var open []int
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		Expect(err).NotTo(HaveOccurred())
		switch t := token.(type) {
		case xml.StartElement:
			e := element{name: t.Name.Local, attrs: map[string]string{}}
			for _, a := range t.Attr {
				e.attrs[a.Name.Local] = a.Value
			}
			open = append(open, len(list))
			list = append(list, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				list[open[len(open)-1]].text += string(t)
			}
		}
	}
}

// texts returns the texts of a picture in their order.
func texts(svg []byte) (list []string) {
	GinkgoHelper()
	for _, e := range parsed(svg) {
		if e.name == "text" {
			list = append(list, e.text)
		}
	}
	return list
}

var (
	known    = map[string]string{"svg": "", "title": "", "desc": "", "path": "", "rect": "", "circle": "", "text": "", "a": ""}
	shape    = regexp.MustCompile(`^[MLHVhvz0-9. -]*Z?$`)
	decimals = regexp.MustCompile(`^(-?[0-9]+(\.[0-9])?\s?)+$`)
)

// sound checks the properties of every picture.
func sound(p doc.Plot) {
	GinkgoHelper()
	Expect(p.Text).NotTo(BeEmpty())
	if p.SVG == nil {
		Expect(plot.File(p)).To(BeNil())
		return
	}
	list := parsed(p.SVG)
	Expect([]string{list[0].name, list[1].name, list[2].name}).To(Equal([]string{"svg", "title", "desc"}))
	Expect(list[0].attrs["role"]).To(Or(Equal("img"), Equal("group")))
	Expect(list[0].attrs["aria-label"]).NotTo(BeEmpty())
	for _, e := range list {
		Expect(known).To(HaveKey(e.name), "only shapes, text and links")
		Expect(e.attrs).NotTo(Or(HaveKey("style"), HaveKey("id"), HaveKey("onload"), HaveKey("onclick")))
		Expect(e.attrs["href"]).To(Or(BeEmpty(), HavePrefix("#")))
		Expect(e.attrs["d"]).To(MatchRegexp(shape.String()))
		for _, name := range []string{"x", "y", "cx", "cy", "r", "width", "height"} {
			if v, ok := e.attrs[name]; ok {
				Expect(v).To(MatchRegexp(decimals.String()), e.name+" "+name)
			}
		}
		Expect(strings.ContainsFunc(e.text, unicode.IsControl)).To(BeFalse(), e.text)
		Expect(e.text).NotTo(ContainSubstring("\u202e"))
	}
	Expect(utf8.Valid(p.SVG)).To(BeTrue())
	Expect(len(p.SVG)).To(BeNumerically("<", 130_000), "a picture is bounded")
	Expect(string(p.SVG)).NotTo(Or(ContainSubstring("NaN"), ContainSubstring("Inf"), ContainSubstring("<script")))
	parsed(plot.File(p))
}

var _ = Describe("the pictures", Label("H-05"), func() {
	It("are as they were", func() {
		for name, p := range pictures() {
			Expect(p.SVG).NotTo(BeNil(), name+": "+p.Text)
			golden.Expect(name+".svg", plot.File(p))
		}
	})
	It("are the same bytes each time", func() {
		again := pictures()
		for name, p := range pictures() {
			Expect(again[name].SVG).To(Equal(p.SVG), name)
		}
	})
	It("are sound", func() {
		for _, p := range pictures() {
			sound(p)
		}
	})
	It("explain an empty plot", func() {
		for want, p := range map[string]doc.Plot{
			"no calls whose latency":  plot.Latency("x", []plot.Sample{{Name: "a", Seconds: []float64{nan, math.Inf(1), -1}}}),
			"3 calls, each of 1s":     plot.Latency("x", []plot.Sample{{Name: "a", Seconds: []float64{1, 1}}, {Name: "b", Seconds: []float64{1}}}),
			"nothing that has a cost": plot.Costs("x", "EUR", []plot.Bar{{Name: "free"}, {Name: "odd", Value: nan}}),
			"no calls":                plot.Timeline("x", nil),
			"no shares":               plot.Shares("x", nil),
			"Nothing was compared":    plot.Changes("x", nil),
			"No detector has both":    plot.PrecisionRecall("x", []plot.Point{{Precision: nan, Recall: 1}}),
			"No detector computes":    plot.Reliability("x", []plot.Calibration{{Name: "naive"}, {Bins: []plot.CalibrationBin{{Score: nan}}}}),
			"not enough scores":       plot.Thresholds("x", plot.Curve{T: []float64{0.5}, Precision: []float64{1}, Recall: []float64{1}, F1: []float64{1}, Best: nan}),
		} {
			Expect(p.SVG).To(BeNil(), want)
			Expect(p.Text).To(ContainSubstring(want))
		}
	})
	It("let no text out of its place", func() {
		for _, p := range []doc.Plot{
			plot.Latency(evil, []plot.Sample{{Name: evil, Seconds: []float64{1, 2}}}),
			plot.Costs(evil, evil, []plot.Bar{{Name: evil, Value: 1}}),
			plot.Timeline(evil, []plot.Span{{Name: evil, Link: `#"><script>` + evil, Took: 1, Fault: evil}, {Name: "x", Link: "javascript:alert(1)", Took: 1}}),
			plot.Shares(evil, []plot.Share{{Name: evil, Value: value(0.5, 0.4, 0.6, 3)}}),
			plot.Changes(evil, []plot.Difference{{Name: evil, Value: 0.1, Lo: nan, Hi: nan, Verdict: evil}}),
			plot.PrecisionRecall(evil, []plot.Point{{Name: evil, Precision: 0.5, Recall: 0.5, Curve: curve()}}),
			plot.Reliability(evil, []plot.Calibration{{Name: evil, Bins: []plot.CalibrationBin{{Score: 0.5, Share: 0.5}}}}),
			plot.Thresholds(evil, curve()),
		} {
			Expect(p.SVG).NotTo(BeNil())
			sound(p)
		}
	})
	It("are sound whatever the numbers", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{0, nan, math.Inf(1), math.Inf(-1), 1e-300, 1e300, math.MaxFloat64}))
			numbers := func(label string) []float64 { return rapid.SliceOfN(number, 0, 30).Draw(rt, label) }
			name := rapid.SampledFrom([]string{"a", "b", "", evil, strings.Repeat("long ", 40)})
			var groups []plot.Sample
			for range rapid.IntRange(0, 9).Draw(rt, "groups") {
				groups = append(groups, plot.Sample{Name: name.Draw(rt, "name"), Seconds: numbers("seconds")})
			}
			var list []plot.Bar
			var rows []plot.Share
			var changes []plot.Difference
			var points []plot.Point
			var calibration plot.Calibration
			for i, v := range numbers("values") {
				list = append(list, plot.Bar{Name: name.Draw(rt, "name"), Value: v, Unknown: i%2 == 0})
				lo, hi := number.Draw(rt, "lo"), number.Draw(rt, "hi")
				rows = append(rows, plot.Share{Name: "s", Value: value(v, lo, hi, i)})
				changes = append(changes, plot.Difference{Name: "e", Value: v, Lo: lo, Hi: hi, Verdict: "worse"})
				points = append(points, plot.Point{Name: "p", Precision: v, PrecisionLo: lo, Recall: hi, RecallHi: lo, Curve: plot.Curve{Precision: numbers("p"), Recall: numbers("r")}})
				calibration.Bins = append(calibration.Bins, plot.CalibrationBin{Score: v, Share: lo, Lo: hi, Hi: v, N: i})
			}
			duration := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, int64(time.Hour)))
			var calls []plot.Span
			for i := range rapid.IntRange(0, 20).Draw(rt, "calls") {
				calls = append(calls, plot.Span{
					N: i, Name: name.Draw(rt, "name"), From: time.Duration(duration.Draw(rt, "from")), Took: time.Duration(duration.Draw(rt, "took")),
					Retries: i % 3, Failed: i%5 == 0,
				})
			}
			for _, p := range []doc.Plot{
				plot.Latency("t", groups), plot.Costs("t", "", list), plot.Timeline("t", calls), plot.Shares("t", rows), plot.Changes("t", changes), plot.PrecisionRecall("t", points),
				plot.Reliability("t", []plot.Calibration{calibration, {Name: "e", Error: number.Draw(rt, "error"), Bins: calibration.Bins}}),
				plot.Thresholds("t", plot.Curve{T: numbers("t"), Precision: numbers("p"), Recall: numbers("r"), F1: numbers("f"), Best: number.Draw(rt, "best")}),
			} {
				sound(p)
			}
		})
	})
})

var _ = Describe("a picture of much", Label("H-05"), func() {
	It("stays small, and counts what it leaves out", func() {
		var groups []plot.Sample
		var list []plot.Bar
		var rows []plot.Share
		for i := range 100 {
			s := plot.Sample{Name: fmt.Sprint("purpose ", i)}
			for k := range 1000 {
				s.Seconds = append(s.Seconds, float64(1+i+k%97))
			}
			groups = append(groups, s)
			list = append(list, plot.Bar{Name: s.Name, Value: float64(i + 1)})
			rows = append(rows, plot.Share{Name: s.Name, Value: value(0.5, 0.4, 0.6, 10)})
		}
		latency, costs, rates := plot.Latency("t", groups), plot.Costs("t", "", list), plot.Shares("t", rows)
		for _, p := range []doc.Plot{latency, costs, rates} {
			sound(p)
			Expect(len(p.SVG)).To(BeNumerically("<", 30_000))
		}
		Expect(string(latency.SVG)).To(ContainSubstring("(95 others)"))
		Expect(latency.Text).To(HavePrefix("100,000 calls: "))
		// The 89 least of 100 bars: 1 + 2 + … + 89.
		Expect(costs.Text).To(ContainSubstring("(89 others) 4,005"))
		Expect(rates.Text).To(ContainSubstring("60 rows not shown"))
	})
	It("draws neighbouring calls as one", func() {
		var calls []plot.Span
		for i := range 20_000 {
			calls = append(calls, plot.Span{N: i + 1, Name: fmt.Sprint("p", i%20), From: time.Duration(i) * time.Second, Took: time.Second, Failed: i == 9999, Retries: i % 2})
		}
		p := plot.Timeline("t", calls)
		sound(p)
		Expect(len(p.SVG)).To(BeNumerically("<", 60_000))
		Expect(p.Text).To(Equal("20,000 calls in 5h 33m, 9,999 with a fault or a retry, 1 failed."))
		Expect(string(p.SVG)).To(And(ContainSubstring("(9 others)"), ContainSubstring("calls, from call "), ContainSubstring(">×<")))
	})
})

var _ = Describe("a timeline", Label("H-05"), func() {
	It("links single calls, and is then no image to a screen reader", func() {
		p := plot.Timeline("t", spans())
		list := parsed(p.SVG)
		Expect(list[0].attrs["role"]).To(Equal("group"))
		links := 0
		for _, e := range list {
			if e.name == "a" {
				links++
			}
		}
		Expect(links).To(Equal(24))
		Expect(string(p.SVG)).To(And(ContainSubstring("<title>14: 3s, reset-mid-stream, 1 retry</title>"), ContainSubstring("<title>21: 2s, status-529, failed</title>")))
	})
	It("shows calls in their order where no time passed", func() {
		p := plot.Timeline("t", []plot.Span{{N: 1, Name: "a"}, {N: 2, Name: "a"}, {N: 3, Name: "b"}})
		var left []string
		for _, e := range parsed(p.SVG) {
			if e.name == "rect" {
				left = append(left, e.attrs["x"])
			}
		}
		Expect(left).To(HaveLen(3))
		Expect(map[string]bool{left[0]: true, left[1]: true, left[2]: true}).To(HaveLen(3))
		Expect(texts(p.SVG)).To(ContainElements("call 1", "call 2", "call 3"))
	})
})

var _ = DescribeTable("an axis has at least three labels, at round values", Label("H-05"),
	func(longest time.Duration, want ...string) {
		p := plot.Timeline("t", []plot.Span{{N: 1, Name: "a", Took: longest}})
		Expect(texts(p.SVG)[:len(want)]).To(Equal(want))
		Expect(texts(p.SVG)[len(want)]).NotTo(MatchRegexp("^[0-9]"))
	},
	Entry("the range is a round value", 10*time.Second, "0s", "5s", "10s"),
	Entry("the range is just below it", 9900*time.Millisecond, "0s", "2s", "4s", "6s", "8s"),
	Entry("the range is of minutes", 9*time.Minute, "0s", "2m 0s", "4m 0s", "6m 0s", "8m 0s"),
	Entry("the range is of days", 60*time.Hour, "0s", "24h 0m", "48h 0m"),
	Entry("the range begins with 1", 1300*time.Millisecond, "0s", "500ms", "1s"),
	Entry("the range is small", 30*time.Microsecond, "0s", "10µs", "20µs", "30µs"),
)

var _ = Describe("the distribution of latencies", Label("H-05"), func() {
	It("marks the median and the 95th percentile of each group", func() {
		p := plot.Latency("t", []plot.Sample{{Name: "a", Seconds: []float64{4, 1, 3, 2}}}) // 2.5, and 3 + 0.85 of 1
		Expect(string(p.SVG)).To(And(ContainSubstring("p50 2.5s, p95 3.85s, n 4"), ContainSubstring("a: 50 % took at most 2.5s"), ContainSubstring("a: 95 % took at most 3.85s")))
		Expect(p.Text).To(Equal("4 calls: half took at most 2.5s, 95 % at most 3.85s, the longest 4s."))
	})
	It("puts the marks on the line, which rises in steps", func() {
		var marks []string
		for _, e := range parsed(plot.Latency("t", []plot.Sample{{Name: "a", Seconds: []float64{0.001, 10}}}).SVG) {
			if e.name == "circle" {
				marks = append(marks, e.attrs["cy"])
			}
		}
		Expect(marks).To(HaveLen(2))
		Expect(marks[0]).To(Equal(marks[1]), "between two values the share is a half")
	})
	It("does not change what it is given", func() {
		values := []float64{3, 1, 2}
		plot.Latency("t", []plot.Sample{{Seconds: values}})
		Expect(values).To(Equal([]float64{3, 1, 2}))
	})
})

var _ = It("shows a share that is unknown as unknown, and 0 of 0 as n/a", func() {
	p := plot.Shares("t", []plot.Share{{Name: "a", Value: measure.Value{Known: true}}, {Name: "b"}, {Name: "c", Value: value(0, 0, 0.3, 9)}})
	Expect(p.Text).To(Equal("a n/a; b unknown; c 0 % [0, 30], n = 9."))
})
