package loop

import "github.com/rehearse-dev/rehearse/llm"

// workState is the state of the work according to an answer.
type workState int

// The states. An unclear answer is unfinished.
const (
	unfinished workState = iota
	finished
	blocked // a person must decide or help
)

// claim is the claim of an answer about the state of the work. Answers are hostile input, so they are
// parsed in linear time.
type claim struct {
	state workState
	// summary is the summary of the agent, or its message to a person if it is blocked.
	summary string
	// note explains why an answer that seems finished is not; otherwise empty.
	note note
}

// cutOff returns the claim of an answer that was cut off. It is not finished, since the missing part
// may deny it. A blocked agent stays blocked, because asking a person is always safe.
func (c claim) cutOff(why llm.FinishReason) claim {
	if c.state != finished {
		return c
	}
	return claim{note: notef("the answer completes but was cut off (finish reason %s)",
		"la réponse annonce la fin, mais elle a été interrompue (motif %s)", why)}
}
