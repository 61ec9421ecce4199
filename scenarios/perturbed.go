package scenarios

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// checkPerturb checks that the perturbations can happen to what is driven; that they
// are some is checked where they are read.
func (c *checker) checkPerturb(sc *Scenario) {
	if c.decoding.About("perturb") {
		return // what could not be read is left out, and the others are not where they were
	}
	given := map[string]bool{}
	for i, p := range sc.Perturb {
		path := fmt.Sprintf("perturb[%d]", i)
		if text := p.String(); given[text] {
			c.add(path, "", "the perturbation %s is there already", text)
		} else {
			given[text] = true
		}
		switch err := p.Suits(sc.Backend.Process()); {
		case err != nil:
			c.add(path, "", "%v", err)
		case p.At == perturb.Write && sc.Drive.Interview == nil && sc.Drive.Supervise == nil:
			c.add(path, "", "what is driven keeps nothing on disk, so there is no write; only an interview and a supervised run have some")
		case p.At == perturb.Turn && sc.Drive.Interview == nil:
			c.checkTurn(path, &sc.Drive, p)
		}
	}
}

// checkTurn checks what is to happen at a turn of somebody else's agent.
func (c *checker) checkTurn(path string, d *Drive, p perturb.Perturbation) {
	talk, ok := d.Talk()
	switch {
	case !ok:
		c.add(path, "", "nobody takes turns with what is driven; an interview and the agents of others have some")
	case p.Do != perturb.Restart:
		c.add(path, "", "somebody else's agent can be killed and started again at a turn (turn=%d:%s), and nothing else", p.N, perturb.Restart)
	case !d.Restarts():
		c.add(path, "", "what is driven does not live from one turn to the next in a process that the harness starts, so it cannot be killed and started again")
	case p.N > len(talk.Turns):
		c.add(path, "", "there are %d turns, so there is none with the number %d", len(talk.Turns), p.N)
	}
}
