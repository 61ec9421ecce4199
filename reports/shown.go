package reports

import "github.com/rehearse-dev/rehearse/harness/measure"

// Text shows a measure to a person: "unknown" if it is not known, "n/a" if there was
// nothing to measure, and never a 0 for either. Amounts of money have no unit.
func Text(v measure.Value) string { return text(v) }

// Find returns the measure of that name; one that is unknown if there is none.
func Find(list []measure.Value, name string) measure.Value { return find(list, name) }

// ByUrgency returns scenarios with those that did not pass first, error before fail.
func ByUrgency(list []Scenario) []Scenario { return byUrgency(list) }
