package kind

import "github.com/rehearse-dev/rehearse/harness/measure"

// extension returns the facts and metrics of interviews.
func extension() measure.Extension {
	return measure.Extension{
		Name: "interview", Zero: &InterviewFacts{}, Of: factsOf, Metrics: metrics, Section: interviewSection,
		Counts: func(facts any) bool { return facts.(*InterviewFacts).Submissions > 0 },
	}
}

var metrics = []measure.Metric{
	measure.RateOfTrials("interview_finished_rate", func(_ *InterviewFacts, core *measure.Facts) bool {
		return core.Run.Status == "finished"
	}),
	measure.Sum("interview_submissions", func(f *InterviewFacts) int { return f.Submissions }),
	measure.Sum("interview_answers", func(f *InterviewFacts) int { return f.Answers }),
	measure.Sum("interview_queued_questions", func(f *InterviewFacts) int { return f.Queued }),
	measure.Sum("interview_repeated_submissions", func(f *InterviewFacts) int { return f.Repeated }),
	measure.Rate("interview_rejected_rate", func(f *InterviewFacts) (k, n int) { return measure.Total(f.Rejected), f.Validated }),
	measure.Rate("interview_warned_rate", func(f *InterviewFacts) (k, n int) { return f.Warned, f.Validated }),
	measure.RateOfCalls("interview_transport_retry_rate", func(f *InterviewFacts) int { return f.TransportRetries }),
	measure.RateOfCalls("interview_trimming_rate", func(f *InterviewFacts) int { return f.Trimmed }),
	measure.Sum("interview_exhausted_messages", func(f *InterviewFacts) int { return f.Exhausted }),
	measure.Sum("interview_lost_calls", func(f *InterviewFacts) int { return f.Lost }),
}

var interviewSection = measure.Section{
	Title:    "Interviews",
	Sentence: "%s answers kept, %s questions served without a call, %s submissions sent twice, %s calls lost and repeated",
	Counts: []string{
		"interview_answers", "interview_queued_questions", "interview_repeated_submissions", "interview_lost_calls",
	},
	Rates: []measure.SectionRate{
		{Metric: "interview_finished_rate", Label: "finished", Of: "interviews"},
		{Metric: "interview_rejected_rate", Label: "replies that did not validate", Of: "replies"},
		{Metric: "interview_warned_rate", Label: "replies used with warnings", Of: "replies"},
		{Metric: "interview_transport_retry_rate", Label: "calls retried after a failure", Of: "calls"},
		{Metric: "interview_trimming_rate", Label: "calls with a trimmed history", Of: "calls"},
	},
}
