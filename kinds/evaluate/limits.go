package evaluate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/detect"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// metrics are the scores that can have a limit.
var metrics = map[string]func(detect.Scores) detect.Value{
	"precision": func(s detect.Scores) detect.Value { return s.Precision },
	"recall":    func(s detect.Scores) detect.Value { return s.Recall },
	"f1":        func(s detect.Scores) detect.Value { return s.F1 },
}

// Metrics returns the names of the scores that can have a limit.
func Metrics() []string { return []string{"precision", "recall", "f1"} }

// limit is the least that a score may be. The value is compared with it, not the
// interval around the value.
type limit struct {
	metric string
	least  float64
}

// parseLimits reads texts such as "recall=0.9".
func parseLimits(texts []string) ([]limit, error) {
	var limits []limit
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		if metrics[name] == nil {
			return nil, fmt.Errorf("--min %q: %w", text, suggest.NotAmong("score", name, Metrics()))
		}
		least, err := strconv.ParseFloat(value, 64)
		if err != nil || !(least >= 0 && least <= 1) {
			return nil, fmt.Errorf("--min %q: it must be a number from 0 to 1, such as %s=0.9", text, name)
		}
		limits = append(limits, limit{name, least})
	}
	return limits, nil
}

// CheckLimits compares a result with the limits of the plan. It returns the missed
// limits, and the limits that cannot be decided.
func (p *Plan) CheckLimits(r detect.Evaluation) (missed, unknown []string) {
	for _, l := range p.limits {
		value := metrics[l.metric](r.Overall).Value
		switch {
		case value == nil:
			unknown = append(unknown, fmt.Sprintf("--min %s=%g: there is nothing to compute the %s from", l.metric, l.least, l.metric))
		case *value < l.least:
			missed = append(missed, fmt.Sprintf("the %s of %.4f is below %g", l.metric, *value, l.least))
		}
	}
	if len(p.limits) > 0 && r.Failed > 0 {
		unknown = append(unknown, fmt.Sprintf("the detector failed on %s, so whether --min is reached is unknown",
			format.Plural(r.Failed, "item")))
	}
	return missed, unknown
}

// Dimensions returns the names of the groups that a report can show.
func Dimensions() []string {
	return []string{"language", "category", "part", "repository", "confidence", "tag"}
}

// ParseDimensions checks the names of groups; "repo" and "lang" are accepted, too.
func ParseDimensions(by []string) ([]string, error) {
	names := slices.Clone(by)
	for i, name := range names {
		switch name {
		case "lang":
			names[i] = "language"
		case "repo":
			names[i] = "repository"
		}
		if !slices.Contains(Dimensions(), names[i]) {
			return nil, suggest.NotAmong("group", name, Dimensions())
		}
	}
	return names, nil
}
