package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect/score"
)

// metrics are the scores that --min can hold a detector to.
var metrics = map[string]func(score.Scores) score.Value{
	"precision": func(s score.Scores) score.Value { return s.Precision },
	"recall":    func(s score.Scores) score.Value { return s.Recall },
	"f1":        func(s score.Scores) score.Value { return s.F1 },
}

var metricNames = []string{"precision", "recall", "f1"}

func minStarts() []string {
	var starts []string
	for _, name := range metricNames {
		starts = append(starts, name+"=")
	}
	return starts
}

// limit is the least that a score may be. The value is held to it, not the
// interval around it.
type limit struct {
	metric string
	least  float64
}

// parseLimits reads "recall=0.9".
func parseLimits(texts []string) ([]limit, error) {
	var limits []limit
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		if metrics[name] == nil {
			return nil, fmt.Errorf("--min %q: %w", text, notAmong("score", name, metricNames))
		}
		least, err := strconv.ParseFloat(value, 64)
		if err != nil || !(least >= 0 && least <= 1) {
			return nil, fmt.Errorf("--min %q: it must be a number from 0 to 1, such as %s=0.9", text, name)
		}
		limits = append(limits, limit{name, least})
	}
	return limits, nil
}

// holdTo holds a result to the limits: which are missed, and of which it cannot be
// told.
func holdTo(limits []limit, r score.Result) (missed, unknown []string) {
	for _, l := range limits {
		value := metrics[l.metric](r.Overall).Value
		switch {
		case value == nil:
			unknown = append(unknown, fmt.Sprintf("--min %s=%g: there is nothing to tell the %s by", l.metric, l.least, l.metric))
		case *value < l.least:
			missed = append(missed, fmt.Sprintf("the %s of %.4f is below %g", l.metric, *value, l.least))
		}
	}
	if len(limits) > 0 && r.Failed > 0 {
		unknown = append(unknown, fmt.Sprintf("the detector failed on %s, so that --min is not known to be reached", plural(r.Failed, "item")))
	}
	return missed, unknown
}

// dimensionNames are the groups that a report can show.
func dimensionNames() []string {
	return []string{"language", "category", "part", "repository", "confidence", "tag"}
}

// dimensions are the groups that are asked for; "repo" and "lang" will do.
func dimensions(by []string) ([]string, error) {
	names := slices.Clone(by)
	for i, name := range names {
		switch name {
		case "lang":
			names[i] = "language"
		case "repo":
			names[i] = "repository"
		}
		if !slices.Contains(dimensionNames(), names[i]) {
			return nil, notAmong("group", name, dimensionNames())
		}
	}
	return names, nil
}
