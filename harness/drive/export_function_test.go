package drive

import "time"

// SetGrace sets how long the function of a driver may take to return once its context
// has ended.
func SetGrace(d Driver, grace time.Duration) { d.(*appDriver).agent.(*function).grace = grace }
