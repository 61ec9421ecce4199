package harness

// RunAll is Run for existing drivers.
var RunAll = run
