package kind

import "github.com/rehearse-dev/rehearse/harness/measure"

// Extension returns the facts and metrics of supervisors.
func Extension() measure.Extension {
	return measure.Extension{
		Name: "supervise", Zero: &SuperviseFacts{}, Of: factsOf, Metrics: metrics, Section: section,
		Counts: func(facts any) bool { f := facts.(*SuperviseFacts); return f.Attempts+f.Looks > 0 },
	}
}

var metrics = []measure.Metric{
	measure.RateOfTrials("supervise_complete_rate", func(_ *SuperviseFacts, core *measure.Facts) bool {
		return core.Run.Status == "complete"
	}),
	measure.Rate("supervise_done_rate", func(f *SuperviseFacts) (k, n int) { return f.Done, f.Tasks }),
	measure.Rate("supervise_retry_rate", func(f *SuperviseFacts) (k, n int) { return f.Retried, f.Attempts }),
	measure.Sum("supervise_attempts", func(f *SuperviseFacts) int { return f.Attempts }),
	measure.Sum("supervise_derived_attempts", func(f *SuperviseFacts) int { return f.Derived }),
	measure.Sum("supervise_failed_checks", func(f *SuperviseFacts) int { return measure.Total(f.Failed) }),
	measure.Sum("supervise_unknown_checks", func(f *SuperviseFacts) int { return measure.Total(f.Unknown) }),
	measure.Sum("supervise_continuations", func(f *SuperviseFacts) int { return f.Rounds }),
	measure.Sum("supervise_signs", func(f *SuperviseFacts) int { return measure.Total(f.Signs) }),
	measure.Sum("supervise_stagnations", func(f *SuperviseFacts) int { return f.Stagnations }),
	measure.Sum("supervise_checkpoints", func(f *SuperviseFacts) int { return measure.Total(f.Checkpoints) }),
	measure.Sum("supervise_segments", func(f *SuperviseFacts) int { return f.Segments }),
	measure.Sum("supervise_tool_calls", func(f *SuperviseFacts) int { return f.ToolCalls }),
	measure.Sum("supervise_evicted_files", func(f *SuperviseFacts) int { return f.Evicted }),
	measure.Sum("supervise_resumes", func(f *SuperviseFacts) int { return f.Resumes }),
}

var section = measure.Section{
	Title:    "Supervisor",
	Sentence: "%s attempts at tasks, %s forced continuations, %s checkpoints, %s stagnations, %s resumptions",
	Counts: []string{
		"supervise_attempts", "supervise_continuations", "supervise_checkpoints", "supervise_stagnations", "supervise_resumes",
	},
	Rates: []measure.SectionRate{
		{Metric: "supervise_complete_rate", Label: "complete", Of: "runs"},
		{Metric: "supervise_done_rate", Label: "tasks done", Of: "tasks"},
		{Metric: "supervise_retry_rate", Label: "attempts after a failed one", Of: "attempts"},
	},
}
