package plot_test

import (
	"fmt"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

var _ = Describe("the plot of a trend", Label("H-04"), func() {
	whole := func(v float64) string { return fmt.Sprint(v) }
	nan := math.NaN()
	count := func(p doc.Plot, name, class string) (n int) {
		GinkgoHelper()
		for _, e := range parsed(p.SVG) {
			if e.name == name && e.attrs["class"] == class {
				n++
			}
		}
		return n
	}
	point := func(v float64) plot.TrendPoint {
		return plot.TrendPoint{Value: v, Lo: nan, Hi: nan, Name: evil, Tone: doc.Good}
	}

	It("has a point for each known value, and no line across a break or a gap", func() {
		broken := point(4)
		broken.Break = true
		p := plot.Trend(evil, []plot.TrendPoint{point(1), point(2), point(nan), point(3), broken, point(5)}, whole)
		Expect(count(p, "circle", "pass")).To(Equal(5))
		Expect(count(p, "path", "axis dash")).To(Equal(1))
		var line string
		for _, e := range parsed(p.SVG) {
			if e.attrs["class"] == "c1 thick" {
				line += e.attrs["d"]
			}
		}
		Expect(line).To(MatchRegexp(`^M[^M]+M[^M]+$`), "two stretches of two values; a single value has no line")
	})

	It("is empty without a known value", func() {
		Expect(plot.Trend("x", []plot.TrendPoint{point(nan), point(math.Inf(1))}, whole).SVG).To(BeNil())
		Expect(plot.Trend("x", nil, whole).SVG).To(BeNil())
	})

	It("draws values that are all equal on an axis around them, and never below 0", func() {
		for value, want := range map[float64]string{0: "<text class=\"axis\" ", 0.00003: ">2e-05<"} {
			p := plot.Trend("x", []plot.TrendPoint{point(value), point(value)}, whole)
			Expect(string(p.SVG)).To(And(ContainSubstring(want), Not(ContainSubstring(">-"))))
		}
	})

	It("draws any values", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			value := rapid.Float64()
			points := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plot.TrendPoint {
				return plot.TrendPoint{
					Value: value.Draw(t, "value"), Lo: value.Draw(t, "lo"), Hi: value.Draw(t, "hi"), Name: evil,
					Tone: doc.Bad, Break: rapid.Bool().Draw(t, "break"),
				}
			}), 0, 300).Draw(t, "points")
			p := plot.Trend(evil, points, whole)
			parsed(p.SVG)
			if len(p.SVG) > 200_000 {
				t.Fatalf("%d bytes", len(p.SVG))
			}
		})
	})
})
