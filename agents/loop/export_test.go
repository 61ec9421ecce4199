package loop

import "github.com/rehearse-dev/rehearse/agents/stop"

// SetJudge replaces the stop guard.
func (d *Deps) SetJudge(judge func(request, answer string) stop.Verdict) { d.judge = judge }
