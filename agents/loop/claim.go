package loop

// workState is the state of the work according to an answer.
type workState int

// The states. Unclear answers are unfinished, the zero value.
const (
	unfinished workState = iota
	finished
	blocked // a person must decide or help
)

// claim is the part of an answer that states whether the work is finished. Answers are hostile input: reading one
// takes time linear in its length.
type claim struct {
	state workState
	// summary is the agent's own; of a blocked agent, what a person should know.
	summary string
	// note explains why an answer that seems to claim more is unfinished; else empty.
	note string
}

// cutOff returns the claim of an answer that was cut off before its end: it cannot be finished,
// as the missing part may say the opposite. A blocked agent stays blocked, as asking a person
// is safe either way.
func (c claim) cutOff(why string) claim {
	if c.state != finished {
		return c
	}
	return claim{note: "the answer completes but was cut off (" + why + ")"}
}
