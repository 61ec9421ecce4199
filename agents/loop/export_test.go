package loop

import "github.com/rehearse-dev/rehearse/agents/stop"

// SetJudge replaces the stop guard by a function of what the agent says.
func (d *Deps) SetJudge(judge func(said string) stop.Verdict) { d.judge = judge }
