package measure

// Golden are the facts of an unperturbed run that perturbed ones are held
// against: the variable "golden" of invariants. Events and single answers are left out.
type Golden struct {
	Status     string         `cel:"status" json:"status"`
	ExitCode   int            `cel:"exit_code" json:"exit_code"`
	Text       string         `cel:"text" json:"text,omitempty"` // what the run came to
	Iterations int            `cel:"iterations" json:"iterations"`
	Duration   float64        `cel:"duration" json:"duration"` // seconds on the trial's clock; 0 where that is real time
	Writes     int            `cel:"writes" json:"writes,omitempty"`
	Calls      CallFacts      `cel:"calls" json:"calls"`
	Tokens     TokenFacts     `cel:"tokens" json:"tokens"`
	Cost       CostFacts      `cel:"cost" json:"cost"`
	Interview  InterviewFacts `cel:"interview" json:"interview"`
	Supervise  SuperviseFacts `cel:"supervise" json:"supervise"`
	React      ReactFacts     `cel:"react" json:"react"`
	// Files are the beginnings of the files that somebody else's agent left, by path.
	Files map[string]string `cel:"files" json:"files,omitempty"`
}

// GoldenOf takes from f what perturbed runs are held against.
func GoldenOf(f *Facts) Golden {
	g := Golden{
		Status: f.Run.Status, ExitCode: f.Run.ExitCode, Text: f.Run.Text, Iterations: f.Run.Iterations, Duration: f.Run.Duration, Writes: f.Run.Writes,
		Calls: f.Calls, Tokens: f.Tokens, Cost: f.Cost, Interview: f.Interview, Supervise: f.Supervise, React: f.React,
	}
	if len(f.Turns) > 0 {
		g.Files = f.Files
	}
	return g
}
