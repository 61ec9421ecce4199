package detect

import "github.com/rehearse-dev/rehearse/stat"

// Result is how a detector did. All of it goes into JSON and comes back.
type Evaluation struct {
	Detector string `json:"detector"`
	// Positive are the labels that the detector should find.
	Positive []string `json:"positive"`
	// Items were added; Failed of them could not be told, by the detector or for
	// want of a label, and Scored of them are what everything below rests on.
	Items    int       `json:"items"`
	Scored   int       `json:"scored"`
	Failed   int       `json:"failed"`
	Failures []Failure `json:"failures,omitempty"`

	Overall Scores `json:"overall"`
	// Groups are the scores by language, category and so on; an item can be in
	// several groups of a dimension, or in none.
	Groups []Dimension `json:"groups,omitempty"`
	// Categories say how well the detector names the categories of the label,
	// whatever it says of the message; none if it, or the labels, never name one.
	Categories []Group  `json:"categories,omitempty"`
	Classes    *Classes `json:"classes,omitempty"`
	// Spans compare the byte ranges of the evidence with the labelled steps, where
	// these stand in the text; Steps compare the texts of the steps. None if the
	// detector never says any, or no label has steps: they are unknown then.
	Spans []Match `json:"spans,omitempty"`
	Steps []Match `json:"steps,omitempty"`
	// LocatedSteps of the label stand in their text word for word, and
	// UnlocatedSteps do not, so that spans know nothing of them.
	LocatedSteps   int `json:"located_steps"`
	UnlocatedSteps int `json:"unlocated_steps"`

	Curve   *Curve   `json:"curve,omitempty"`
	Latency *Latency `json:"latency,omitempty"`
	Cost    *Cost    `json:"cost,omitempty"`

	// The errors to look at first: those of items whose label is sure, and among
	// them those in which the detector was the most sure of the contrary.
	FalsePositives []Mistake `json:"false_positives"`
	FalseNegatives []Mistake `json:"false_negatives"`
}

// Counts is a table of confusion.
type Counts struct {
	TP int `json:"tp"` // should be found, and was
	FP int `json:"fp"` // was found, and should not be
	FN int `json:"fn"` // should be found, and was not
	TN int `json:"tn"`
}

// Value is a share or a score with its confidence interval.
type Value struct {
	// Value is nil where there is nothing to tell, as of 0 of 0: not a 0.
	Value *float64 `json:"value"`
	// N is the number of observations that it rests on.
	N        int            `json:"n"`
	Interval *stat.Interval `json:"interval,omitempty"`
	Warnings []string       `json:"warnings,omitempty"`
}

// Scores are counts and what follows from them. Precision is TP/(TP+FP), Recall
// TP/(TP+FN), FPR FP/(FP+TN), each with Wilson's interval. F1 is
// 2TP/(2TP+FP+FN), with a bootstrap interval; its N is the number of items.
type Scores struct {
	Counts
	Precision Value `json:"precision"`
	Recall    Value `json:"recall"`
	F1        Value `json:"f1"`
	FPR       Value `json:"fpr"`
}

// Dimension is a way to group items.
type Dimension struct {
	// By is "language", "category", "part", "repository", "confidence" or "tag".
	By string `json:"by"`
	// Groups are sorted by name, confidences from high to low.
	Groups []Group `json:"groups"`
	// Merged is how often an item went into the group "(other)" because there were
	// too many groups.
	Merged int `json:"merged,omitempty"`
}

// Group is a named part of the items.
type Group struct {
	Name string `json:"name"`
	Scores
}

// Classes compare the label with the class that the detector says, over the items
// of which it says one.
type Classes struct {
	// Labels name the rows (label) and the columns (detected) of Counts.
	Labels []string `json:"labels"`
	Counts [][]int  `json:"counts"`
	// Unknown counts classes that are none of Labels; they are left out.
	Unknown int `json:"unknown,omitempty"`
	// Agreement is the share on the diagonal (Wilson); Kappa is Cohen's, with a
	// bootstrap interval.
	Agreement Value `json:"agreement"`
	Kappa     Value `json:"kappa"`
}

// Match says how well spans or steps were found. See Similar for what overlaps.
type Match struct {
	// Scope is "annotated": items with labelled steps; "detected": those of them
	// that the detector took for positive; "all": also the items that should not
	// be found, in which every step is wrong.
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

// Curve shows what other thresholds would give, over the items with a score.
type Curve struct {
	N int `json:"n"`
	// Missing items have no score; they are left out.
	Missing int `json:"missing,omitempty"`
	// AveragePrecision is the area under the precision-recall curve, as the sum of
	// (R(i) - R(i-1)) × P(i) over falling thresholds; nil without positives.
	AveragePrecision *float64 `json:"average_precision"`
	// Best is the point of the highest F1, and of the highest threshold among
	// equals; nil without positives.
	Best *Point `json:"best,omitempty"`
	// Points have rising thresholds in steps of a thousandth; those that would
	// repeat the next one are left out.
	Points []Point `json:"points"`
}

// Point takes as positive what scores at least Threshold.
type Point struct {
	Threshold float64  `json:"threshold"`
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"`
	FPR       *float64 `json:"fpr"`
}

// Latency is how long the detector took for a message, in seconds.
type Latency struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
	// Rounded says that P50 and P99 have three significant digits.
	Rounded bool `json:"rounded,omitempty"`
	// Bytes of text were judged, at MBPerSecond (10^6 bytes) while the detector ran.
	Bytes       int64    `json:"bytes"`
	MBPerSecond *float64 `json:"mb_per_s"`
}

// Cost is what the detector's calls to a model took.
type Cost struct {
	Calls int `json:"calls"`
	// EUR is a lower bound unless Known: the price of some calls is not known then.
	EUR   float64 `json:"eur"`
	Known bool    `json:"known"`
}

// Failure is an item that could not be scored.
type Failure struct {
	ID    string `json:"id"`
	Error string `json:"error"`
}
