package scenarios

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// checkPerturb checks that the perturbations can happen to what is driven; that they
// are some is checked where they are read.
func (c *Checker) checkPerturb(sc *Scenario) {
	if c.decoding.About("perturb") {
		return // what could not be read is left out, and the others are not where they were
	}
	given := map[string]bool{}
	for i, p := range sc.Perturb {
		path := fmt.Sprintf("perturb[%d]", i)
		if text := p.String(); given[text] {
			c.Add(path, "", "the perturbation %s is there already", text)
		} else {
			given[text] = true
		}
		switch err := p.Suits(sc.Backend.Process()); {
		case err != nil:
			c.Add(path, "", "%v", err)
		case p.At == perturb.Write && !c.kind().Writes:
			c.Add(path, "", "what is driven keeps nothing on disk, so there is no write; only an interview and a supervised run have some")
		case p.At == perturb.Turn:
			c.checkTurn(path, sc.Drive.Options, p)
		}
	}
}

// checkTurn checks what is to happen at a turn of somebody else's agent.
func (c *Checker) checkTurn(path string, opts any, p perturb.Perturbation) {
	check := c.kind().CheckTurn
	if check == nil {
		c.Add(path, "", "nobody takes turns with what is driven; an interview and the agents of others have some")
	} else if err := check(opts, p); err != nil {
		c.Add(path, "", "%v", err)
	}
}
