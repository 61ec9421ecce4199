package plot_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
	"github.com/rehearse-dev/rehearse/stat"
)

var nan = math.NaN()

// samples are latencies of three purposes, spread over three orders of magnitude.
func samples() []plot.Sample {
	draw := rand.New(rand.NewPCG(1, 2))
	var list []plot.Sample
	for i, name := range []string{"question", "validation of the answer", "profile"} {
		s := plot.Sample{Name: name}
		for range 50 * (3 - i) {
			s.Seconds = append(s.Seconds, math.Exp(draw.NormFloat64())*float64(1+2*i))
		}
		list = append(list, s)
	}
	return list
}

func bars() []plot.Bar {
	return []plot.Bar{
		{Name: "question", Value: 0.0123},
		{Name: "profile", Value: 0.0456},
		{Name: "validation of the answer, again and again", Value: 0.002, Unknown: true},
	}
}

// spans are calls of an interview with a retry, a fault and a failure.
func spans() []plot.Span {
	var list []plot.Span
	for i := range 24 {
		s := plot.Span{N: i + 1, Name: []string{"question", "mirror", "profile"}[i%3], Link: fmt.Sprintf("#call-%d", i+1)}
		s.From, s.Took = time.Duration(i)*7*time.Second, time.Duration(2+i%4)*time.Second
		switch i {
		case 6:
			s.Retries = 2
		case 13:
			s.Fault, s.Retries = "reset-mid-stream", 1
		case 20:
			s.Failed, s.Fault = true, "status-529"
		}
		list = append(list, s)
	}
	return list
}

func value(v, lo, hi float64, n int) measure.Value {
	return measure.Value{Known: true, Value: &v, N: n, Interval: &stat.Interval{Lo: lo, Hi: hi, Level: 0.95, Method: "wilson", N: n}}
}

func shares() []plot.Share {
	return []plot.Share{
		{Name: "precision", Value: value(0.942, 0.91, 0.96, 320)},
		{Name: "recall", Value: value(0.875, 0.83, 0.91, 280)},
		{Name: "F1", Value: value(1, 0.79, 1, 15)},
		{Name: "nothing to measure", Value: measure.Value{Known: true}},
		{Name: "no price", Value: measure.Value{}},
	}
}

func effects() []plot.Difference {
	return []plot.Difference{
		{Name: "interview/golden calls", Value: 0.08, Lo: 0.05, Hi: 0.11, Verdict: "worse"},
		{Name: "interview/golden cost", Value: -0.12, Lo: -0.2, Hi: -0.04, Verdict: "better"},
		{Name: "loop/done tokens", Value: 0.001, Lo: -0.01, Hi: 0.012, Verdict: "tied"},
		{Name: "loop/new latency", Value: nan, Lo: nan, Hi: nan, Verdict: "insufficient data"},
		{Name: "loop/far tokens", Value: 4, Lo: -0.1, Hi: 9, Verdict: "worse"},
	}
}

func detectors() []plot.Point {
	return []plot.Point{
		{Name: "rules", Precision: 0.95, PrecisionLo: 0.91, PrecisionHi: 0.98, Recall: 0.88, RecallLo: 0.83, RecallHi: 0.92, Curve: curve()},
		{Name: "naive keywords", Precision: 0.52, PrecisionLo: 0.45, PrecisionHi: 0.6, Recall: 0.93, RecallLo: 0.9, RecallHi: 0.96},
	}
}

func calibrations() []plot.Calibration {
	rules := plot.Calibration{Name: "rules", Error: 0.043}
	for i := range 10 {
		score := 0.05 + float64(i)/10
		share := score * score
		rules.Bins = append(rules.Bins, plot.CalibrationBin{Score: score, Share: share, Lo: share - 0.04, Hi: share + 0.05, N: 10 * (i + 1)})
	}
	return []plot.Calibration{
		rules,
		{Name: "a model", Error: nan, Bins: []plot.CalibrationBin{{Score: 0, Share: 0.1, Lo: 0.05, Hi: 0.2, N: 1}, {Score: 1, Share: 0.9, Lo: nan, Hi: nan, N: 3}}},
	}
}

func curve() plot.Curve {
	c := plot.Curve{Best: 0.52}
	for i := range 101 {
		t := float64(i) / 100
		c.T = append(c.T, t)
		c.Precision = append(c.Precision, 0.3+0.69*t)
		c.Recall = append(c.Recall, 1-t*t*t)
		c.F1 = append(c.F1, 2*c.Precision[i]*c.Recall[i]/(c.Precision[i]+c.Recall[i]))
	}
	c.Precision[100], c.F1[100] = nan, nan
	return c
}

// pictures are all kinds, by name.
func pictures() map[string]doc.Plot {
	return map[string]doc.Plot{
		"latency":     plot.Latency("Latency by purpose", samples()),
		"costs":       plot.Costs("Cost by purpose", "EUR", bars()),
		"timeline":    plot.Timeline("Calls of trial 1", spans()),
		"shares":      plot.Shares("Pass rates", shares()),
		"effects":     plot.Changes("Changes since the baseline", effects()),
		"detectors":   plot.PrecisionRecall("Precision and recall", detectors()),
		"reliability": plot.Reliability("Reliability", calibrations()),
		"thresholds":  plot.Thresholds("Thresholds of rules", curve()),
	}
}
