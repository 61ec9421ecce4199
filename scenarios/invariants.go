package scenarios

import "fmt"

func (c *Checker) checkInvariants(invariants []string) {
	if c.opts.CheckInvariant == nil {
		return
	}
	for i, expr := range invariants {
		if err := c.opts.CheckInvariant(expr); err != nil {
			c.Add(fmt.Sprintf("invariants[%d]", i), "", "the invariant cannot be used: %v", err)
		}
	}
}
