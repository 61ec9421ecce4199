package measure

import "github.com/rehearse-dev/rehearse/harness/record"

// Extension adds facts and metrics that only some agents have, such as those of a stop
// guard.
type Extension struct {
	// Name is the variable of the facts in expressions, and the key of the metrics in JSON.
	Name string
	// Zero is a pointer to an empty struct of the facts. Its cel tags name the fields in
	// expressions, and its json tags in recordings. Its type name must differ from those of
	// other extensions.
	Zero any
	// Of returns a pointer to the facts of a trial, which are empty if the extension does not
	// apply to it. It may also add to the facts of the core: to
	// RunFacts.Violations, and to Facts.Stops.
	Of func(*record.Scenario, *record.Trial, *Facts) any
	// Counts reports whether a trial with these facts counts in the metrics.
	Counts func(facts any) bool
	// Metrics are computed over all trials that count.
	Metrics []Metric
	// Section describes how reports show the metrics.
	Section Section
}

// Section describes how reports show the metrics of an extension: a sentence with
// counts, and a table of rates.
type Section struct {
	Title string
	// Sentence has a %s for each of the metrics that Counts names.
	Sentence string
	Counts   []string
	Rates    []SectionRate
}

// SectionRate is a row of the table: the name of a metric, what is counted, and the
// things among which it is counted.
type SectionRate struct{ Metric, Label, Of string }

// ExtensionMetrics are the metrics of one extension.
type ExtensionMetrics struct {
	Name    string
	Section Section
	Values  []Value
}

// AgentMetrics are the metrics of all extensions that applied to a trial, in the order of the
// extensions.
type AgentMetrics []ExtensionMetrics

// All returns the values of all extensions in one list.
func (m AgentMetrics) All() (all []Value) {
	for i := range m {
		all = append(all, m[i].Values...)
	}
	return all
}

// ByName returns the values by the name of their extension.
func (m AgentMetrics) ByName() map[string][]Value {
	byName := make(map[string][]Value, len(m))
	for i := range m {
		byName[m[i].Name] = m[i].Values
	}
	return byName
}

// AgentTotals accumulates the facts of extensions over many trials. It is not safe for
// concurrent use.
type AgentTotals struct{ extensions []extensionTotals }

// extensionTotals accumulates the facts of one extension.
type extensionTotals struct {
	*Extension
	tallies []tally // one for each metric; none before the first trial
}

// NewAgentTotals returns empty totals of the extensions.
func NewAgentTotals(extensions []Extension) *AgentTotals {
	t := &AgentTotals{extensions: make([]extensionTotals, len(extensions))}
	for i := range extensions {
		t.extensions[i].Extension = &extensions[i]
	}
	return t
}

// Add adds a trial.
func (t *AgentTotals) Add(f *Facts) {
	for i := range t.extensions {
		e := &t.extensions[i]
		facts := f.Extensions[e.Name]
		if facts == nil || !e.Counts(facts) {
			continue
		}
		if e.tallies == nil {
			e.tallies = make([]tally, len(e.Metrics))
		}
		for j := range e.tallies {
			e.tallies[j].add(e.Metrics[j].part(facts, f))
		}
	}
}

// Close returns the metrics; nil for nil totals. It may be called again, also after further
// Adds.
func (t *AgentTotals) Close() AgentMetrics {
	if t == nil {
		return nil
	}
	var all AgentMetrics
	for i := range t.extensions {
		e := &t.extensions[i]
		if len(e.tallies) == 0 || e.tallies[0].trials == 0 {
			continue
		}
		m := ExtensionMetrics{Name: e.Name, Section: e.Section}
		for j := range e.tallies {
			m.Values = append(m.Values, e.Metrics[j].values(&e.tallies[j])...)
		}
		all = append(all, m)
	}
	return all
}
