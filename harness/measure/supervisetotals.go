package measure

// SuperviseTotals adds up what supervisors did. The zero value is ready.
type SuperviseTotals struct {
	sum      SuperviseFacts
	runs     int // trials with a supervisor
	complete int
	failed   int
	unknown  int
	signs    int
	saved    int // checkpoints
}

// Add adds a trial. One without a supervisor does not count.
func (t *SuperviseTotals) Add(f Facts) {
	in := &f.Supervise
	if in.Attempts+in.Looks == 0 {
		return
	}
	t.runs++
	if f.Run.Status == "complete" {
		t.complete++
	}
	t.failed += total(in.Failed)
	t.unknown += total(in.Unknown)
	t.signs += total(in.Signs)
	t.saved += total(in.Checkpoints)
	s := &t.sum
	s.Attempts += in.Attempts
	s.Retried += in.Retried
	s.Derived += in.Derived
	s.Done += in.Done
	s.Tasks += in.Tasks
	s.Rounds += in.Rounds
	s.Stagnations += in.Stagnations
	s.Segments += in.Segments
	s.ToolCalls += in.ToolCalls
	s.Evicted += in.Evicted
	s.Resumes += in.Resumes
}

// Close returns the measures; nil if there was no supervisor. It may be called
// again, also after further Adds.
func (t *SuperviseTotals) Close() []Value {
	if t.runs == 0 {
		return nil
	}
	s := &t.sum
	return []Value{
		rate("supervise_complete_rate", t.complete, t.runs),
		rate("supervise_done_rate", s.Done, s.Tasks),
		rate("supervise_retry_rate", s.Retried, s.Attempts),
		summed("supervise_attempts", s.Attempts, t.runs),
		summed("supervise_derived_attempts", s.Derived, t.runs),
		summed("supervise_failed_checks", t.failed, t.runs),
		summed("supervise_unknown_checks", t.unknown, t.runs),
		summed("supervise_continuations", s.Rounds, t.runs),
		summed("supervise_signs", t.signs, t.runs),
		summed("supervise_stagnations", s.Stagnations, t.runs),
		summed("supervise_checkpoints", t.saved, t.runs),
		summed("supervise_segments", s.Segments, t.runs),
		summed("supervise_tool_calls", s.ToolCalls, t.runs),
		summed("supervise_evicted_files", s.Evicted, t.runs),
		summed("supervise_resumes", s.Resumes, t.runs),
	}
}

// total is the sum of counts.
func total(counts map[string]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
