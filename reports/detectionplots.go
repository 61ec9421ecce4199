package reports

import (
	"math"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/plot"
)

// maxCurves limits the plots of thresholds.
const maxCurves = 8

// DetectionPlots draws precision and recall of all detectors, the reliability of the scores, and
// the thresholds of each detector with scores.
func DetectionPlots(detectors []detect.Evaluation) []doc.Plot {
	var points []plot.Point
	var calibrations []plot.Calibration
	var curves []doc.Plot
	for i := range detectors {
		d := &detectors[i]
		points = append(points, plotPoint(d))
		if d.Calibration != nil {
			calibrations = append(calibrations, plotCalibration(d))
		}
		if d.Curve != nil && len(curves) < maxCurves {
			curves = append(curves, plot.Thresholds("Thresholds of "+d.Detector, plotCurve(d.Curve)))
		}
	}
	return append([]doc.Plot{
		plot.PrecisionRecall("Precision and recall", points),
		plot.Reliability("Reliability of scores", calibrations),
	}, curves...)
}

// plotPoint returns precision and recall with the curve, if there is one.
func plotPoint(d *detect.Evaluation) plot.Point {
	p := plot.Point{Name: d.Detector}
	p.Precision, p.PrecisionLo, p.PrecisionHi = scoreBounds(d.Overall.Precision)
	p.Recall, p.RecallLo, p.RecallHi = scoreBounds(d.Overall.Recall)
	if d.Curve != nil {
		p.Curve = plotCurve(d.Curve)
	}
	return p
}

func plotCalibration(d *detect.Evaluation) plot.Calibration {
	out := plot.Calibration{Name: d.Detector, Error: orNaN(d.Calibration.Error.Value)}
	for _, b := range d.Calibration.Bins {
		share, lo, hi := scoreBounds(b.Share)
		out.Bins = append(out.Bins, plot.CalibrationBin{Score: b.Score, Share: share, Lo: lo, Hi: hi, N: b.N})
	}
	return out
}

// scoreBounds returns a value with its interval; NaN if unknown.
func scoreBounds(v detect.Value) (value, lo, hi float64) {
	if v.Interval == nil {
		return orNaN(v.Value), math.NaN(), math.NaN()
	}
	return orNaN(v.Value), v.Interval.Lo, v.Interval.Hi
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func plotCurve(c *detect.Curve) plot.Curve {
	out := plot.Curve{Best: math.NaN()}
	if c.Best != nil {
		out.Best = c.Best.Threshold
	}
	for _, p := range c.Points {
		out.T = append(out.T, p.Threshold)
		out.Precision = append(out.Precision, orNaN(p.Precision))
		out.Recall = append(out.Recall, orNaN(p.Recall))
		out.F1 = append(out.F1, orNaN(p.F1))
	}
	return out
}
