package measure

// InterviewTotals adds up what interviews did. The zero value is ready.
type InterviewTotals struct {
	sum      InterviewFacts
	runs     int // trials in which something was submitted
	finished int
	calls    int // that interviews made
	rejected int // replies, by whatever rule
}

// Add adds a trial. One in which nothing was submitted does not count.
func (t *InterviewTotals) Add(f Facts) {
	in := &f.Interview
	if in.Submissions == 0 {
		return
	}
	t.runs++
	if f.Run.Status == "finished" {
		t.finished++
	}
	t.calls += f.Calls.Total
	s := &t.sum
	s.Submissions += in.Submissions
	s.Answers += in.Answers
	s.Queued += in.Queued
	s.Repeated += in.Repeated
	s.Validated += in.Validated
	s.Warned += in.Warned
	for _, n := range in.Rejected {
		t.rejected += n
	}
	s.TransportRetries += in.TransportRetries
	s.Exhausted += in.Exhausted
	s.Lost += in.Lost
	s.Trimmed += in.Trimmed
}

// Close returns the measures; nil if there was no interview. It may be called
// again, also after further Adds.
func (t *InterviewTotals) Close() []Value {
	if t.runs == 0 {
		return nil
	}
	s := &t.sum
	return []Value{
		rate("interview_finished_rate", t.finished, t.runs),
		summed("interview_submissions", s.Submissions, t.runs),
		summed("interview_answers", s.Answers, t.runs),
		summed("interview_queued_questions", s.Queued, t.runs),
		summed("interview_repeated_submissions", s.Repeated, t.runs),
		rate("interview_rejected_rate", t.rejected, s.Validated),
		rate("interview_warned_rate", s.Warned, s.Validated),
		rate("interview_transport_retry_rate", s.TransportRetries, t.calls),
		rate("interview_trimming_rate", s.Trimmed, t.calls),
		summed("interview_exhausted_messages", s.Exhausted, t.runs),
		summed("interview_lost_calls", s.Lost, t.runs),
	}
}
