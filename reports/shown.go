package reports

import "github.com/rehearse-dev/rehearse/harness/measure"

// Text shows a measure to a person: "unknown" if it is not known, "n/a" if there was
// nothing to measure, and never a 0 for either. Amounts of money have no unit.
func Text(v measure.Value) string { return text(v) }

// Find returns the measure of that name; one that is unknown if there is none.
func Find(list []measure.Value, name string) measure.Value { return find(list, name) }

// ByUrgency returns scenarios with those that did not pass first, error before fail.
func ByUrgency(list []Scenario) []Scenario { return byUrgency(list) }

// Section is what one kind of agent is measured by, in words.
type Section struct {
	Title, Summary string
	Rates          []Rate
}

// Rate is a share with its counts and interval, such as "12 of 12, 100 % [75.8, 100]".
type Rate struct{ Says, Of, Value string }

// Sections are those of the agents that there are metrics of, in a fixed order.
func Sections(m measure.AgentMetrics) []Section {
	var list []Section
	for _, s := range sections {
		metrics := s.of(m)
		if metrics == nil {
			continue
		}
		out := Section{Title: s.title, Summary: s.summary(metrics)}
		for _, r := range s.rates {
			out.Rates = append(out.Rates, Rate{r.says, r.of, ofTotal(find(metrics, r.name))})
		}
		list = append(list, out)
	}
	return list
}
