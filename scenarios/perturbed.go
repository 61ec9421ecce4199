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
			c.add(path, "", "nobody takes turns with what is driven; only an interview has some")
		}
	}
}
