package detect

import "github.com/rehearse-dev/rehearse/stat"

// Evaluation is the result of scoring a detector. It survives a JSON round trip.
type Evaluation struct {
	Detector string `json:"detector"`
	// Positive are the labels that the detector should find.
	Positive []string `json:"positive"`
	// Items is the number of added items. Failed items could not be judged or have no label; all
	// scores are based on the Scored ones.
	Items    int       `json:"items"`
	Scored   int       `json:"scored"`
	Failed   int       `json:"failed"`
	Failures []Failure `json:"failures,omitempty"`

	Overall Scores `json:"overall"`
	// Groups are the scores by language, category and so on. An item can be in several groups of a
	// dimension, or in none.
	Groups []Dimension `json:"groups,omitempty"`
	// Categories score the detected categories against the label's, independently of Positive.
	// Empty if the detector, or the labels, never name one. A category that no label names has
	// counts and no values.
	Categories []Group  `json:"categories,omitempty"`
	Classes    *Classes `json:"classes,omitempty"`
	// Spans compare the byte ranges of the evidence with the labelled steps that occur in the
	// text; Steps compare the texts of the steps. Empty if the detector never reports any, or no
	// label has steps.
	Spans []Match `json:"spans,omitempty"`
	Steps []Match `json:"steps,omitempty"`
	// LocatedSteps counts labelled steps that occur verbatim in their text, UnlocatedSteps the
	// others, which Spans ignores.
	LocatedSteps   int `json:"located_steps"`
	UnlocatedSteps int `json:"unlocated_steps"`
	// Unlabelled lists what the detector reports and no label has, which is therefore not scored:
	// "categories" or "steps".
	Unlabelled []string `json:"unlabelled,omitempty"`

	Curve       *Curve       `json:"curve,omitempty"`
	Calibration *Calibration `json:"calibration,omitempty"`
	Latency     *Latency     `json:"latency,omitempty"`
	Cost        *Cost        `json:"cost,omitempty"`

	// The mistakes to look at first: items with a confident label, and among them those on which
	// the detector was most confident.
	FalsePositives []Mistake `json:"false_positives"`
	FalseNegatives []Mistake `json:"false_negatives"`
}

// Counts is a confusion matrix.
type Counts struct {
	TP int `json:"tp"` // should be found, and was
	FP int `json:"fp"` // was found, and should not be
	FN int `json:"fn"` // should be found, and was not
	TN int `json:"tn"`
}

// Value is a share or a score with its confidence interval.
type Value struct {
	// Value is nil if undefined, such as 0 of 0.
	Value *float64 `json:"value"`
	// N is the number of observations.
	N        int            `json:"n"`
	Interval *stat.Interval `json:"interval,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Scores are counts and the values derived from them. Precision is TP/(TP+FP), Recall TP/(TP+FN),
// FPR FP/(FP+TN), each with Wilson's interval. F1 is 2TP/(2TP+FP+FN), with a bootstrap interval;
// its N is the number of items.
type Scores struct {
	Counts
	Precision Value `json:"precision"`
	Recall    Value `json:"recall"`
	F1        Value `json:"f1"`
	FPR       Value `json:"fpr"`
}

// Dimension is a way of grouping items.
type Dimension struct {
	// By is "language", "category", "part", "repository", "confidence" or "tag".
	By string `json:"by"`
	// Groups are sorted by name; confidences from high to low.
	Groups []Group `json:"groups"`
	// Merged counts additions to the group "(other)", made after the limit on groups was reached.
	Merged int `json:"merged,omitempty"`
}

// Group is a named part of the items.
type Group struct {
	Name string `json:"name"`
	Scores
}

// Classes compare the label with the predicted class, over the items that have one.
type Classes struct {
	// Labels name the rows (label) and the columns (detected) of Counts.
	Labels []string `json:"labels"`
	Counts [][]int  `json:"counts"`
	// Unknown counts classes that are not in Labels; they are left out.
	Unknown int `json:"unknown,omitempty"`
	// Agreement is the share on the diagonal, with Wilson's interval; Kappa is Cohen's, with a
	// bootstrap interval.
	Agreement Value `json:"agreement"`
	Kappa     Value `json:"kappa"`
}

// Match scores the detected spans or steps. Similar defines overlap.
type Match struct {
	// Scope is "annotated" for items with labelled steps, "detected" for those of them that the
	// detector found positive, and "all" for these and the negative items, whose steps are all
	// wrong.
	Scope   string `json:"scope"`
	Items   int    `json:"items"`
	Exact   Found  `json:"exact"`
	Overlap Found  `json:"overlap"`
}

// Found counts spans or steps: matched one to one, wrong, and missed.
type Found struct {
	TP        int   `json:"tp"`
	FP        int   `json:"fp"`
	FN        int   `json:"fn"`
	Precision Value `json:"precision"`
	Recall    Value `json:"recall"`
	F1        Value `json:"f1"`
}

// Curve shows the scores at other thresholds, over the items with a score.
type Curve struct {
	N int `json:"n"`
	// Missing counts items without a score, which are left out.
	Missing int `json:"missing,omitempty"`
	// AveragePrecision is the area under the precision-recall curve: the sum of (R(i) - R(i-1)) ×
	// P(i) over falling thresholds; nil without positives.
	AveragePrecision *float64 `json:"average_precision"`
	// Best is the point with the highest F1, and the highest threshold among equals; nil without
	// positives.
	Best *Point `json:"best,omitempty"`
	// Points have rising thresholds in steps of one thousandth; points equal to the next one are
	// left out.
	Points []Point `json:"points"`
}

// Point has the scores if every item that scores at least Threshold is positive.
type Point struct {
	Threshold float64  `json:"threshold"`
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"`
	FPR       *float64 `json:"fpr"`
}

// Calibration compares scores with the share of items that should be found: of the items with a
// score near 0.8, a calibrated detector should find 80 %. Items without a score are left out.
type Calibration struct {
	// Error is the expected calibration error: the distance between Score and Share, averaged over
	// the items of all bins (Guo et al., ICML 2017), with a bootstrap interval. A small corpus
	// makes it look larger than it is.
	Error Value `json:"expected_error"`
	// Bins have rising scores; bins without items are left out.
	Bins []CalibrationBin `json:"bins"`
}

// CalibrationBin has the items whose score is at least Lo and less than Hi; the last bin includes
// its Hi.
type CalibrationBin struct {
	Lo float64 `json:"lo"`
	Hi float64 `json:"hi"`
	N  int     `json:"n"`
	// Score is the mean score.
	Score float64 `json:"score"`
	// Share is the share of items that should be found, with Wilson's interval.
	Share Value `json:"share"`
}

// Latency is the time per message, in seconds.
type Latency struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
	// Rounded reports that P50 and P99 are rounded to three significant digits.
	Rounded bool `json:"rounded,omitempty"`
	// Bytes is the amount of judged text, MBPerSecond (10^6 bytes) the rate while the detector
	// ran.
	Bytes       int64    `json:"bytes"`
	MBPerSecond *float64 `json:"mb_per_s"`
}

// Cost counts the detector's calls to a model.
type Cost struct {
	Calls int `json:"calls"`
	// EUR is a lower bound unless Known, because the price of some calls is unknown.
	EUR   float64 `json:"eur"`
	Known bool    `json:"known"`
}

// Failure is an item that could not be scored.
type Failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}
