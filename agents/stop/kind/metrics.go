package kind

import "github.com/rehearse-dev/rehearse/harness/measure"

// Extension returns the facts and metrics of stop guards, for all agents that have one.
func Extension() measure.Extension {
	return measure.Extension{
		Name: "guard", Zero: &GuardFacts{}, Of: factsOf, Metrics: metrics, Section: section,
		Counts: func(facts any) bool { return facts.(*GuardFacts).Judged > 0 },
	}
}

// metrics are those of document 000. Rates over labels are 0 of 0 where there are no
// labels, not 0.
var metrics = []measure.Metric{
	measure.Sum("guard_judged", func(f *GuardFacts) int { return f.Judged }),
	measure.Sum("guard_refused", func(f *GuardFacts) int { return f.Refused }),
	measure.Sum("guard_detections", func(f *GuardFacts) int { return f.Detections }),
	measure.SumBy("guard_detections_", func(f *GuardFacts) map[string]int { return f.By }),
	measure.Mean("guard_detections_per_run", func(f *GuardFacts) int { return f.Detections }),
	measure.Sum("guard_forced_executions", func(f *GuardFacts) int { return f.Forced }),
	measure.Ratio("guard_steps_per_execution", func(f *GuardFacts) (k, n int) { return f.Steps, f.Refused }),
	measure.Sum("guard_steps_executed", func(f *GuardFacts) int { return f.Executed }),
	measure.MeanTime("guard_execution_mean", func(f *GuardFacts) (seconds float64, n int, known bool) {
		return f.Execution, f.Forced, f.Forced == 0 || f.ExecutionKnown
	}),
	measure.RateOfTrials("guard_success_rate", func(f *GuardFacts, _ *measure.Facts) bool { return f.Allowed }),
	// Where a bound ended the run, the answer was neither a success nor a stop.
	measure.Rate("guard_prevented_rate", func(f *GuardFacts) (k, n int) { return f.Prevented, f.Prevented + f.FalseNegatives }),
	measure.Rate("guard_false_positive_rate", func(f *GuardFacts) (k, n int) { return f.FalsePositives, f.Labelled - f.Deferred }),
	measure.Rate("guard_false_negative_rate", func(f *GuardFacts) (k, n int) { return f.FalseNegatives, f.Deferred }),
}

var section = measure.Section{
	Title:    "Stop guard",
	Sentence: "%s answers judged, %s refused, %s made to go on, %s of their steps reported as done",
	Counts:   []string{"guard_judged", "guard_refused", "guard_forced_executions", "guard_steps_executed"},
	Rates: []measure.SectionRate{
		{Metric: "guard_prevented_rate", Label: "premature stops prevented", Of: "answers that defer"},
		{Metric: "guard_false_positive_rate", Label: "false alarms", Of: "answers that do not"},
		{Metric: "guard_false_negative_rate", Label: "misses", Of: "answers that defer"},
		{Metric: "guard_success_rate", Label: "ended with an answer that may stop", Of: "runs"},
	},
}
