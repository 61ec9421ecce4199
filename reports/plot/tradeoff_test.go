package plot_test

import (
	"fmt"
	"math"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

func choices() []plot.Tradeoff {
	return []plot.Tradeoff{
		{Name: "terse", Cost: value(0.011, 0.0105, 0.0116, 90), Quality: value(0.71, 0.61, 0.80, 90), Front: true},
		{Name: "with-examples", Cost: value(0.019, 0.0182, 0.0199, 90), Quality: value(0.88, 0.80, 0.94, 90), Front: true},
		{Name: "long", Cost: value(0.024, 0.0229, 0.0252, 90), Quality: value(0.83, 0.74, 0.90, 90)},
	}
}

func differences() []plot.Difference {
	return []plot.Difference{
		{Name: "with-examples, not terse", Value: 0.17, Lo: 0.08, Hi: 0.26, Verdict: "better"},
		{Name: "long, not terse", Value: 0.12, Lo: -0.01, Hi: 0.25, Verdict: "undecided"},
		{Name: "short, not terse", Value: 0.01, Lo: -0.03, Hi: 0.04, Verdict: "equivalent"},
		{Name: "rude, not terse", Value: -0.3, Lo: -0.41, Hi: -0.19, Verdict: "worse"},
		{Name: "skipped", Value: nan, Lo: nan, Hi: nan, Verdict: "undecided"},
	}
}

func share(v float64) string { return fmt.Sprintf("%.0f %%", v*100) }

var plane = plot.Plane{Cost: "EUR for a trial", Quality: "pass", Show: share}

var _ = Describe("the pictures of an experiment", Label("H-05"), func() {
	It("are as they were, sound, and the same bytes each time", func() {
		for name, draw := range map[string]func() doc.Plot{
			"pareto":      func() doc.Plot { return plot.Pareto("Cost and quality", plane, choices()) },
			"differences": func() doc.Plot { return plot.Differences("Differences of pass", differences(), 0.05, share) },
		} {
			p := draw()
			golden.Expect(name+".svg", plot.File(p))
			sound(p)
			Expect(draw().SVG).To(Equal(p.SVG))
		}
	})

	It("describe the plot in words", func() {
		Expect(plot.Pareto("t", plane, choices()).Text).To(And(
			HavePrefix("pass over EUR for a trial; up and to the left is better. terse: 71 % [61 %, 80 %], 0.01"),
			ContainSubstring("on the front; with-examples"), HaveSuffix("long: 83 % [74 %, 90 %], 0.0240 [0.0229, 0.0252].")))
		Expect(plot.Differences("t", differences(), 0.05, share).Text).To(Equal(
			"with-examples, not terse +17 % ▲ better; long, not terse +12 % ? undecided; short, not terse +1 % = equivalent; rude, not terse −30 % ▼ worse; skipped ? undecided."))
	})

	It("draw the front as a staircase through it, and nothing else", func() {
		var path string
		for _, e := range parsed(plot.Pareto("t", plane, choices()).SVG) {
			if e.attrs["class"] == "skip thick dash" {
				path = e.attrs["d"]
			}
		}
		Expect(path).To(MatchRegexp(`^M[0-9. ]+H[0-9.]+V[0-9.]+$`))
	})

	It("explain an empty plot", func() {
		unknown := plot.Tradeoff{Name: "free", Cost: measure.Value{Known: false}, Quality: value(1, 1, 1, 1)}
		Expect(plot.Pareto("t", plane, []plot.Tradeoff{unknown}).Text).To(ContainSubstring("both a known cost and a known quality"))
		Expect(plot.Differences("t", nil, 0, share).Text).To(Equal("Nothing was compared."))
	})

	It("are sound whatever the numbers and names", func() {
		rapid.Check(GinkgoT(), func(rt *rapid.T) {
			number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-2, 2), rapid.SampledFrom([]float64{0, nan, math.Inf(1), 1e-300, 1e300, math.MaxFloat64}))
			name := rapid.SampledFrom([]string{"a", "", evil})
			var list []plot.Tradeoff
			var rows []plot.Difference
			for range rapid.IntRange(0, 60).Draw(rt, "n") {
				v := func() measure.Value {
					return value(number.Draw(rt, "v"), number.Draw(rt, "lo"), number.Draw(rt, "hi"), 3)
				}
				list = append(list, plot.Tradeoff{Name: name.Draw(rt, "name"), Cost: v(), Quality: v(), Front: rapid.Bool().Draw(rt, "front")})
				rows = append(rows, plot.Difference{Name: name.Draw(rt, "name"), Value: number.Draw(rt, "v"), Lo: number.Draw(rt, "lo"), Hi: number.Draw(rt, "hi"), Verdict: name.Draw(rt, "verdict")})
			}
			sound(plot.Pareto("t", plot.Plane{Cost: evil, Quality: evil, Lower: true}, list))
			sound(plot.Differences("t", rows, number.Draw(rt, "smallest"), format.Significant))
		})
	})
})
