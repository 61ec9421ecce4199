package kind

import "github.com/rehearse-dev/rehearse/harness/measure"

// Extension returns the facts and metrics of ReAct agents.
func Extension() measure.Extension {
	return measure.Extension{
		Name: "react", Zero: &ReactFacts{}, Of: factsOf, Metrics: metrics, Section: section,
		Counts: func(facts any) bool { f := facts.(*ReactFacts); return f.Iterations+f.Asked > 0 },
	}
}

var metrics = []measure.Metric{
	measure.RateOfTrials("react_done_rate", func(_ *ReactFacts, core *measure.Facts) bool {
		return core.Run.Status == "done" || core.Run.Status == "complete"
	}),
	measure.Rate("react_refused_step_rate", func(f *ReactFacts) (k, n int) { return measure.Total(f.Refused), f.Iterations }),
	measure.Rate("react_complacent_rate", func(f *ReactFacts) (k, n int) { return f.Complacent, f.Reflections }),
	measure.Rate("react_failed_action_rate", func(f *ReactFacts) (k, n int) { return measure.Total(f.Failed), measure.Total(f.Actions) }),
	measure.Rate("react_unverified_rate", func(f *ReactFacts) (k, n int) { return f.Unverified, f.Verifications }),
	measure.Sum("react_iterations", func(f *ReactFacts) int { return f.Iterations }),
	measure.Sum("react_actions", func(f *ReactFacts) int { return measure.Total(f.Actions) }),
	measure.Sum("react_questions", func(f *ReactFacts) int { return f.Asked }),
	measure.Sum("react_escalations", func(f *ReactFacts) int { return measure.Total(f.Triggers) }),
	measure.Sum("react_delegations", func(f *ReactFacts) int { return measure.Total(f.Delegations) }),
	measure.Sum("react_cut_delegations", func(f *ReactFacts) int { return f.Cut }),
	measure.Sum("react_stuck", func(f *ReactFacts) int { return f.Stuck }),
}

var section = measure.Section{
	Title:    "ReAct agents",
	Sentence: "%s iterations, %s actions, %s escalations, %s delegations",
	Counts:   []string{"react_iterations", "react_actions", "react_escalations", "react_delegations"},
	Rates: []measure.SectionRate{
		{Metric: "react_done_rate", Label: "done", Of: "runs"},
		{Metric: "react_refused_step_rate", Label: "steps refused", Of: "iterations"},
		{Metric: "react_complacent_rate", Label: "complacent reflections", Of: "reflections"},
		{Metric: "react_failed_action_rate", Label: "actions that could not be done", Of: "actions"},
		{Metric: "react_unverified_rate", Label: "outputs that did not verify", Of: "verifications"},
	},
}
