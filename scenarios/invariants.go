package scenarios

import "fmt"

// checkInvariants checks the expressions that must hold of perturbed runs.
func (c *checker) checkInvariants(invariants []string) {
	if c.opts.CheckInvariant == nil {
		return
	}
	for i, expr := range invariants {
		if err := c.opts.CheckInvariant(expr); err != nil {
			c.add(fmt.Sprintf("invariants[%d]", i), "", "the invariant cannot be used: %v", err)
		}
	}
}
