package scenarios

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// checkPerturb checks that the perturbations can happen to the agent. Parse already validated their
// form.
func (c *Checker) checkPerturb(sc *Scenario) {
	if c.decoding.About("perturb") {
		return // invalid items are dropped, so indexes no longer match
	}
	if b := sc.UserBackend(); len(sc.Perturb) > 0 && b != nil && b.Live() {
		c.Add("perturb", "", "a conversation with a live simulated user cannot be repeated, and so not be perturbed; script the user's backend")
	}
	given := map[string]bool{}
	for i, p := range sc.Perturb {
		path := fmt.Sprintf("perturb[%d]", i)
		if text := p.String(); given[text] {
			c.Add(path, "", "the perturbation %s is repeated", text)
		} else {
			given[text] = true
		}
		switch err := p.Suits(sc.Backend.Process()); {
		case err != nil:
			c.Add(path, "", "%v", err)
		case p.At == perturb.Write && !c.kind().Writes:
			c.Add(path, "", "the agent stores nothing on disk that the harness sees, so it has no writes; "+
				"only an interview and a supervised run have some")
		case p.At == perturb.Turn:
			c.checkTurn(path, sc.Drive.Options, p)
		}
	}
}

func (c *Checker) checkTurn(path string, opts any, p perturb.Perturbation) {
	check := c.kind().CheckTurn
	if check == nil {
		c.Add(path, "", "the agent has no turns; only an interview and external agents have some")
	} else if err := check(opts, p); err != nil {
		c.Add(path, "", "%v", err)
	}
}
